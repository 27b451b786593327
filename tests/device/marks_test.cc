// A mark is waited for, and not what was queued after it.
#include <algorithm>
#include <random>

#include "tests/device/transfers.h"

namespace hogbatch {
namespace {

class Marks : public Transfers {};
HOGBATCH_ON_EVERY_DEVICE(Marks);

TEST_P(Marks, NeverDescend) {
  const Buffer buffer = Floats();
  std::int64_t last = device().SetMark();
  for (int i = 0; i < 20; ++i) {
    if (i % 3 == 0) device().Fill(All(buffer), 1);
    const std::int64_t mark = device().SetMark();
    EXPECT_GE(mark, last);
    last = mark;
    if (i % 5 == 0) device().WaitFor(mark);
    if (i % 7 == 0) device().Wait();
  }
}

TEST_P(Marks, OfNothingAreWaitedForAtAnyTime) {
  const std::int64_t idle = device().SetMark();
  EXPECT_NO_THROW(device().WaitFor(idle));
  const Buffer buffer = Floats();
  std::vector<float> received = Constant(0);
  device().Fill(All(buffer), 3);
  Fetch(buffer, received);
  device().WaitFor(idle);
  const std::int64_t mark = device().SetMark(), same = device().SetMark();
  device().WaitFor(same);
  EXPECT_EQ(received, Constant(3));
  for (const std::int64_t old : {mark, idle, same}) device().WaitFor(old);
  device().Wait();
  for (const std::int64_t old : {idle, mark, same}) device().WaitFor(old);
  EXPECT_EQ(received, Constant(3));
}

TEST_P(Marks, DownloadsBeforeThemHaveArrivedAndThoseAfterThemArriveLater) {
  const Buffer buffer = Floats();
  const std::vector<float> five = Constant(5);
  std::vector<float> before = Constant(0), after = before, last = before;
  device().Fill(All(buffer), 1);
  Fetch(buffer, before);
  const std::int64_t mark = device().SetMark();
  device().Fill(All(buffer), 2);
  Fetch(buffer, after);
  Send(five, buffer);
  Fetch(buffer, last);
  device().WaitFor(mark);
  EXPECT_EQ(before, Constant(1));
  std::ranges::fill(before, 9.0f);  // is the caller's again
  device().WaitFor(device().SetMark());
  EXPECT_EQ(after, Constant(2));
  EXPECT_EQ(last, Constant(5));
  EXPECT_EQ(before, Constant(9)) << "what came once does not come again";
}

// As a worker does: the layers of a task come back one after the other, while the rows and weights
// of the next task travel and its products are queued.
TEST_P(Marks, LayersArriveWhileTheNextTaskIsQueued) {
  constexpr std::size_t kLayers = 4;
  constexpr int kTasks = 12;
  const auto rate = [](int task, std::size_t layer) {
    return static_cast<float>(task * 10 + static_cast<int>(layer));
  };
  std::vector<Buffer> replicas[2], deltas[2];
  std::vector<std::vector<float>> received[2];
  std::vector<std::int64_t> marks[2];
  std::vector<float> sent[2] = {Constant(0), Constant(0)};
  for (int half = 0; half < 2; ++half) {
    marks[half].resize(kLayers);
    received[half].assign(kLayers, Constant(0));
    for (std::size_t layer = 0; layer < kLayers; ++layer) {
      replicas[half].push_back(Floats());
      deltas[half].push_back(Floats());
    }
  }
  const auto queue = [&](int task) {
    const int half = task % 2;
    std::ranges::fill(sent[half], static_cast<float>(task));
    for (const Buffer& replica : replicas[half]) Send(sent[half], replica);
    for (std::size_t layer = kLayers; layer-- > 0;) {
      device().AddScaled(All(replicas[half][layer]), rate(task, layer), 0,
                         All(deltas[half][layer]));
      Fetch(deltas[half][layer], received[half][layer]);
      marks[half][layer] = device().SetMark();
    }
  };
  queue(0);
  for (int task = 0; task < kTasks; ++task) {
    if (task + 1 < kTasks) queue(task + 1);
    for (std::size_t layer = kLayers; layer-- > 0;) {
      device().WaitFor(marks[task % 2][layer]);
      ASSERT_EQ(received[task % 2][layer], Constant(static_cast<float>(task) * rate(task, layer)))
          << "layer " << layer << " of task " << task;
    }
  }
}

TEST_P(Marks, AreWaitedForInAnyOrder) {
  constexpr int kMarks = 24;
  std::mt19937 random(5);
  for (int round = 0; round < 3; ++round) {
    const Buffer buffer = Floats();
    std::vector<std::vector<float>> sent, received(kMarks, Constant(0));
    for (int i = 0; i < kMarks; ++i) sent.push_back(Constant(static_cast<float>(i + 1)));
    std::vector<std::pair<std::int64_t, int>> marks;
    device().Fill(All(buffer), 0);
    for (int i = 0; i < kMarks; ++i) {
      const Buffer passing = Floats();
      Send(sent[i], passing);
      device().AddScaled(All(passing), 1, 1, All(buffer));
      Fetch(buffer, received[i]);
      marks.emplace_back(device().SetMark(), i);
    }
    std::ranges::shuffle(marks, random);
    marks.resize(kMarks / 2);  // the others come with the last Wait
    for (const auto& [mark, i] : marks) {
      device().WaitFor(mark);
      for (int j = 0; j <= i; ++j) {
        ASSERT_EQ(received[j], Constant(static_cast<float>((j + 1) * (j + 2) / 2)));
      }
    }
    device().Wait();
    EXPECT_EQ(received.back(), Constant(static_cast<float>(kMarks * (kMarks + 1) / 2)));
  }
}

TEST_P(Marks, LargeDownloadsArriveWhole) {
  const std::size_t size = 10'000'001;  // floats: in several pieces where transfers are staged
  std::vector<float> sent(size), first(size, 0), second(size, 0);
  for (std::size_t i = 0; i < size; ++i) sent[i] = static_cast<float>(i % 1000);
  const Buffer buffer(device(), size * sizeof(float));
  Send(sent, buffer);
  Fetch(buffer, first);
  const std::int64_t mark = device().SetMark();
  Fetch(buffer, second);
  device().WaitFor(mark);
  EXPECT_TRUE(first == sent);
  device().Wait();
  EXPECT_TRUE(second == sent);
}

}  // namespace
}  // namespace hogbatch
