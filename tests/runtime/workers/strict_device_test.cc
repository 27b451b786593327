// The strict device finds what it is there to find.
#include "tests/support/strict_device.h"

#include <gtest/gtest.h>

#include <cmath>
#include <thread>
#include <vector>

#include "cpu/cpu.h"
#include "device/buffer.h"

namespace hogbatch {
namespace {

class StrictDevice : public testing::Test {
 protected:
  Tensor Vector(const Buffer& buffer) const { return Tensor::Vector(buffer.span<float>()); }
  void Send(const std::vector<float>& from, const Buffer& to) {
    device_->Upload(std::as_bytes(std::span(from)), to.span<float>().base, 0);
  }
  void Fetch(const Buffer& from, std::vector<float>& to) {
    device_->Download(from.span<float>().base, 0, std::as_writable_bytes(std::span(to)));
  }

  std::unique_ptr<Device> device_ =
      MakeStrictDevice(cpu::MakeDevice({.name = "cpu.0", .description = "test"}));
  std::vector<float> host_ = {1, 2, 3, 4};
};

TEST_F(StrictDevice, RunsWhatIsQueuedWhenItIsWaitedForAndNotBefore) {
  Buffer a(*device_, 16), b(*device_, 16);
  std::vector<float> back(4, 0.0f);
  Send(host_, a);
  device_->Fill(Vector(b), 10);
  device_->AddScaled(Vector(a), 2, 1, Vector(b));
  Fetch(b, back);
  EXPECT_TRUE(std::isnan(back[0]));
  device_->Wait();
  EXPECT_EQ(back, (std::vector<float>{12, 14, 16, 18}));
}

TEST_F(StrictDevice, RunsWhatIsBeforeAMarkAndNothingAfterIt) {
  Buffer a(*device_, 16);
  std::vector<float> first(4), second(4);
  device_->Fill(Vector(a), 1);
  Fetch(a, first);
  const std::int64_t mark = device_->SetMark();
  device_->Fill(Vector(a), 2);
  Fetch(a, second);
  device_->WaitFor(mark);
  EXPECT_EQ(first, (std::vector<float>{1, 1, 1, 1}));
  EXPECT_TRUE(std::isnan(second[0]));
  device_->WaitFor(mark);
  EXPECT_TRUE(std::isnan(second[0]));
  device_->WaitFor(device_->SetMark());
  EXPECT_EQ(second, (std::vector<float>{2, 2, 2, 2}));
}

TEST_F(StrictDevice, NoticesHostMemoryThatChangesBehindTheMarkThatWasWaitedFor) {
  Buffer a(*device_, 16), b(*device_, 16);
  std::vector<float> before = {5, 6, 7, 8};
  Send(before, a);
  const std::int64_t mark = device_->SetMark();
  Send(host_, b);
  device_->WaitFor(mark);
  before[0] = 0;  // it has been sent
  host_[0] = 0;   // this has not
  EXPECT_THROW(device_->Wait(), Misuse);
}

TEST_F(StrictDevice, NoticesMemoryThatIsFreedBehindTheMarkThatWasWaitedFor) {
  Buffer a(*device_, 16), b(*device_, 16);
  device_->Fill(Vector(a), 1);
  const std::int64_t mark = device_->SetMark();
  device_->Fill(Vector(b), 1);
  device_->WaitFor(mark);
  a = Buffer();
  b = Buffer();
  EXPECT_THROW(device_->Wait(), Misuse);
}

TEST_F(StrictDevice, RefusesMarksThatWereNeverSet) {
  EXPECT_NO_THROW(device_->WaitFor(device_->SetMark()));
  Buffer a(*device_, 16);
  device_->Fill(Vector(a), 1);
  EXPECT_THROW(device_->WaitFor(1), Misuse);
  EXPECT_THROW(device_->WaitFor(-1), Misuse);
}

TEST_F(StrictDevice, HandsOutMemoryThatHoldsNoNumbers) {
  Buffer a(*device_, 16);
  std::vector<float> back(4, 0.0f);
  Fetch(a, back);
  device_->Wait();
  EXPECT_TRUE(std::isnan(back[3]));
}

TEST_F(StrictDevice, RefusesHostMemory) {
  EXPECT_THROW(device_->Fill(Tensor::Vector(HostSpan(host_.data(), 4)), 0), Misuse);
  EXPECT_THROW(Send(host_, {}), Misuse);
}

TEST_F(StrictDevice, NoticesHostMemoryThatChangesOnItsWay) {
  Buffer a(*device_, 16);
  Send(host_, a);
  host_[2] = 7;
  EXPECT_THROW(device_->Wait(), Misuse);
}

TEST_F(StrictDevice, NoticesMemoryThatIsFreedBehindQueuedWork) {
  Buffer a(*device_, 16);
  device_->Fill(Vector(a), 1);
  a = Buffer();
  EXPECT_THROW(device_->Wait(), Misuse);
}

TEST_F(StrictDevice, RefusesCallsPastABlockAndAboutNothing) {
  Buffer a(*device_, 16);
  EXPECT_THROW(device_->Fill(Tensor::Vector({a.span<float>().base, 1, 4}), 0), Misuse);
  EXPECT_THROW(device_->Fill(Vector(a).Rows(0), 0), Misuse);
}

TEST_F(StrictDevice, RefusesToAddRowsInPlacesThatDoNotAscendOrExist) {
  const Buffer x(*device_, 16), y(*device_, 16), rows(*device_, 8);
  const auto add = [&](const std::vector<std::int32_t>& places) {
    device_->Upload(std::as_bytes(std::span(places)), rows.span<std::int32_t>().base, 0);
    device_->AddRows(Tensor::Matrix(x.span<float>(), 2, 2), rows.span<std::int32_t>(), 1,
                     Tensor::Matrix(y.span<float>(), 2, 2));
    device_->Wait();
  };
  EXPECT_NO_THROW(add({-1, 1}));
  for (const auto& wrong : {std::vector{1, 0}, {1, 1}, {0, 2}}) EXPECT_THROW(add(wrong), Misuse);
}

TEST_F(StrictDevice, BelongsToOneThread) {
  std::jthread([&] { EXPECT_THROW(device_->Wait(), Misuse); });
}

TEST(StrictDeviceUse, CountsWhatItHolds) {
  const auto use = std::make_shared<DeviceUse>();
  {
    const auto device = MakeStrictDevice(cpu::MakeDevice({.name = "cpu.0", .description = "test"}),
                                         DeviceKind::kCuda, use);
    {
      Buffer a(*device, 64), b(*device, 128);
    }
    device->Allocate(64);
    device->WaitFor(device->SetMark());
    EXPECT_EQ(use->live_bytes, 64);
    EXPECT_EQ(use->peak_bytes, 192);
    EXPECT_EQ(use->marks, 1);
    EXPECT_EQ(use->partial_waits, 1);
    EXPECT_EQ(use->waits, 0);
  }
  EXPECT_EQ(use->leaked_blocks, 1);
}

}  // namespace
}  // namespace hogbatch
