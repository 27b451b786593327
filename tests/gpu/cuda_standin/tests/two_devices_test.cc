// Two GPUs of one machine, driven by one thread or by two. The suite's own claims know of several
// devices, but not that they are different ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "tests/gpu/cuda_standin/standin.h"
#include "tests/gpu/cuda_standin/tests/small_work.h"

namespace hogbatch::standin {
namespace {

void ExpectLosses(const SmallWork& work) {
  for (const float loss : work.received()) {
    EXPECT_NEAR(loss, std::log(static_cast<float>(SmallWork::kLong)), 1e-5);
  }
}

TEST(TwoDevices, TakeTurnsOnOneThread) {
  {
    const std::unique_ptr<Device> first = MakeDevice(0), second = MakeDevice(1);
    SmallWork works[] = {SmallWork(*first), SmallWork(*second)};
    for (const auto step : SmallWork::kSteps) {
      for (SmallWork& work : works) (work.*step)();
    }
    for (const SmallWork& work : works) ExpectLosses(work);
  }
  EXPECT_THAT(TakeViolations(), testing::IsEmpty());
}

TEST(TwoDevices, WorkOnTwoThreads) {
  const auto work_on = [](std::size_t number) {
    const std::unique_ptr<Device> device = MakeDevice(number);
    SmallWork work(*device);
    for (int round = 0; round < 20; ++round) {
      for (const auto step : SmallWork::kSteps) (work.*step)();
    }
    ExpectLosses(work);
  };
  {
    const std::jthread first(work_on, 0), second(work_on, 1);
  }
  EXPECT_THAT(TakeViolations(), testing::IsEmpty());
}

}  // namespace
}  // namespace hogbatch::standin
