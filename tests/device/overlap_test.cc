// Calls return before they are done. Whatever a device does at the same time, the results are those
// of one call after the other.
#include <numeric>

#include "tests/device/reference.h"
#include "tests/device/transfers.h"

namespace hogbatch {
namespace {

class Overlap : public Transfers {};
HOGBATCH_ON_EVERY_DEVICE(Overlap);

TEST_P(Overlap, TheNextBatchTravelsWhileThisOneComputes) {
  constexpr int kBatches = 40;
  std::vector<std::vector<float>> sent, received(kBatches, Constant(0));
  for (int i = 0; i < kBatches; ++i) sent.push_back(Constant(static_cast<float>(i + 1)));
  const Buffer batches[] = {Floats(), Floats()};
  const Buffer sum = Floats();
  device().Fill(All(sum), 0);
  Send(sent[0], batches[0]);
  for (int i = 0; i < kBatches; ++i) {
    if (i + 1 < kBatches) Send(sent[i + 1], batches[(i + 1) % 2]);
    device().AddScaled(All(batches[i % 2]), 1, 1, All(sum));
    Fetch(sum, received[i]);
  }
  device().Wait();
  for (int i = 0; i < kBatches; ++i) {
    EXPECT_EQ(received[i], Constant(static_cast<float>((i + 1) * (i + 2) / 2))) << "batch " << i;
  }
}

TEST_P(Overlap, ABufferIsFilledAgainWhileWhatReadItIsQueued) {
  constexpr int kTimes = 30;
  std::vector<std::vector<float>> sent;
  for (int i = 0; i < kTimes; ++i) sent.push_back(Constant(static_cast<float>(1 << (i % 10))));
  const Buffer input = Floats(), sum = Floats();
  device().Fill(All(sum), 0);
  float expected = 0;
  for (const auto& values : sent) {
    Send(values, input);
    device().AddScaled(All(input), 1, 1, All(sum));
    expected += values[0];
  }
  std::vector<float> received = Constant(0);
  Fetch(sum, received);
  device().Wait();
  EXPECT_EQ(received, Constant(expected));
}

TEST_P(Overlap, ADownloadKeepsWhatWasThereWhenItWasQueued) {
  const Buffer buffer = Floats();
  const std::vector<float> three = Constant(3);
  std::vector<float> first = Constant(0), second = first, third = first;
  device().Fill(All(buffer), 1);
  Fetch(buffer, first);
  device().Fill(All(buffer), 2);
  Fetch(buffer, second);
  Send(three, buffer);
  Fetch(buffer, third);
  device().Fill(All(buffer), 4);
  device().Wait();
  EXPECT_EQ(first, Constant(1));
  EXPECT_EQ(second, Constant(2));
  EXPECT_EQ(third, Constant(3));
}

TEST_P(Overlap, ABufferMayGoWhileWorkOnItIsQueued) {
  std::vector<std::vector<float>> received(20, Constant(0));
  const std::vector<float> one = Constant(1);
  const Buffer sum = Floats();
  device().Fill(All(sum), 0);
  for (auto& values : received) {
    const Buffer passing = Floats();
    Send(one, passing);
    device().AddScaled(All(passing), 1, 1, All(sum));
    device().Fill(All(passing), 7);
    Fetch(sum, values);
  }
  device().Wait();
  for (std::size_t i = 0; i < received.size(); ++i) {
    EXPECT_EQ(received[i], Constant(static_cast<float>(i + 1)));
  }
}

TEST_P(Overlap, ManyTransfersNeedNoWait) {
  constexpr std::int64_t kTransfers = 2000;
  std::vector<float> sent(kTransfers * (kTransfers + 1) / 2), received(sent.size(), 0);
  std::iota(sent.begin(), sent.end(), 0.0f);
  const Buffer buffer(device(), sent.size() * sizeof(float));
  const auto each = [&](auto transfer) {
    std::size_t at = 0;
    for (std::size_t size = 1; size <= kTransfers; at += size, ++size) transfer(at, size);
  };
  each([&](std::size_t at, std::size_t size) {
    device().Upload(std::as_bytes(std::span(sent).subspan(at, size)), buffer.span<float>().base,
                    at * sizeof(float));
  });
  each([&](std::size_t at, std::size_t size) {
    device().Download(buffer.span<float>().base, at * sizeof(float),
                      std::as_writable_bytes(std::span(received).subspan(at, size)));
  });
  device().Wait();
  EXPECT_EQ(received, sent);
}

TEST_P(Overlap, AChainOfLayersNeedsNoWaitInBetween) {
  Matrix x = Random(33, 20), expected = x;
  std::vector<Matrix> weights;
  std::vector<DeviceMatrix> on_device;
  on_device.emplace_back(device(), x);
  const DeviceMatrix bias(device(), Matrix::Zero(1, 20));
  for (int i = 0; i < 8; ++i) {
    weights.push_back(Random(20, 20, -0.3f, 0.3f));
    on_device.emplace_back(device(), weights.back());
  }
  DeviceMatrix a(device(), Random(33, 20)), b(device(), Random(33, 20));
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const Tensor from = i == 0 ? on_device[0].tensor() : (i % 2 ? a : b).tensor();
    device().DenseForward(from, on_device[i + 1].tensor(), bias.tensor(), Activation::kTanh,
                          (i % 2 ? b : a).tensor(), {});
    expected = Activated(Activation::kTanh, expected * weights[i]);
  }
  ExpectClose(b.Get(), expected, Matrix::Constant(33, 20, 1));
}

TEST_P(Overlap, TwoDevicesWorkAtOnce) {
  const std::unique_ptr<Device> other = GetParam().make();
  Device* const devices[] = {&device(), other.get()};
  Buffer sums[] = {Floats(), Buffer(*other, kFloats * sizeof(float))};
  Buffer inputs[] = {Floats(), Buffer(*other, kFloats * sizeof(float))};
  std::vector<std::vector<float>> sent;
  for (int i = 0; i < 20; ++i) sent.push_back(Constant(static_cast<float>(i)));
  std::vector<float> received[] = {Constant(0), Constant(0)};
  for (int d = 0; d < 2; ++d) devices[d]->Fill(All(sums[d]), static_cast<float>(d));
  for (const auto& values : sent) {
    for (int d = 0; d < 2; ++d) {
      devices[d]->Upload(std::as_bytes(std::span(values)), inputs[d].span<float>().base, 0);
      devices[d]->AddScaled(All(inputs[d]), static_cast<float>(d + 1), 1, All(sums[d]));
    }
  }
  for (int d = 0; d < 2; ++d) {
    devices[d]->Download(sums[d].span<float>().base, 0,
                         std::as_writable_bytes(std::span(received[d])));
  }
  devices[1]->Wait();
  devices[0]->Wait();
  EXPECT_EQ(received[0], Constant(190));
  EXPECT_EQ(received[1], Constant(381));
}

}  // namespace
}  // namespace hogbatch
