#include "device/simulated.h"

#include <gtest/gtest.h>

#include "cpu/cpu.h"
#include "device/buffer.h"

namespace hogbatch {
namespace {

std::unique_ptr<Device> Simulate(sim::SimulatedOptions options) {
  DeviceInfo info = cpu::Describe();
  info.name = "cpu.3";
  return sim::MakeSimulatedDevice(cpu::MakeDevice(info), options);
}

TEST(SimulatedDevice, DescribesTheDeviceInside) {
  const auto device = Simulate({});
  EXPECT_EQ(device->info().name, "cpu.3");
  EXPECT_EQ(device->info().description, cpu::Describe().description);
}

TEST(SimulatedDevice, FailsItsNthCallAndSaysSo) {
  const auto device = Simulate({.fail_call = 3});
  const Buffer buffer(*device, 64);
  const Tensor all = Tensor::Vector(buffer.span<float>());
  device->Fill(all, 1);
  try {
    device->Fill(all, 2);
    FAIL() << "the third call did not fail";
  } catch (const DeviceError& error) {
    EXPECT_STREQ(error.what(),
                 "cpu.3 failed in Fill, its call 3 (a failure injected by the simulation)");
  }
  EXPECT_EQ(all.host()[0], 1) << "a call that failed computed nothing";
  device->Fill(all, 4);
  EXPECT_EQ(all.host()[0], 4) << "only the n-th call fails";
}

TEST(SimulatedDevice, CountsMarksAndWaitsForThem) {
  for (const std::int64_t fail_call : {1, 2}) {
    const auto device = Simulate({.fail_call = fail_call});
    const auto mark_and_wait = [&] { device->WaitFor(device->SetMark()); };
    EXPECT_THROW(mark_and_wait(), DeviceError) << "call " << fail_call;
    EXPECT_NO_THROW(mark_and_wait());
  }
}

TEST(SimulatedDevice, NeverFailsUnlessAsked) {
  const auto device = Simulate({});
  for (int i = 0; i < 1000; ++i) EXPECT_NO_THROW(device->Wait());
}

}  // namespace
}  // namespace hogbatch
