// The suite on the processor: always there, alone and under a simulation.
#include <string>
#include <string_view>

#include "cpu/cpu.h"
#include "device/simulated.h"
#include "tests/device/on_device.h"

namespace hogbatch {

std::vector<DeviceFactory> AllDevices() {
  const auto make_cpu = [] { return cpu::MakeDevice(cpu::Describe()); };
  const auto make_simulated = [=] { return sim::MakeSimulatedDevice(make_cpu(), {}); };
  return {{"Cpu", make_cpu}, {"SimulatedOverCpu", make_simulated}};
}

void CheckAfterDevice() {}

namespace {

// A suite over no device at all passes, so that a machine may lack a GPU. It never lacks these two.
TEST(Suite, MakesEveryClaimAboutTheProcessorToo) {
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  int claims = 0;
  for (int s = 0; s < all.total_test_suite_count(); ++s) {
    const testing::TestSuite& suite = *all.GetTestSuite(s);
    if (!std::string_view(suite.name()).starts_with("Devices/")) continue;
    int on_cpu = 0;
    for (int t = 0; t < suite.total_test_count(); ++t) {
      on_cpu += std::string_view(suite.GetTestInfo(t)->name()).ends_with("/Cpu") ? 1 : 0;
    }
    EXPECT_EQ(2 * on_cpu, suite.total_test_count()) << suite.name();
    claims += on_cpu;
  }
  EXPECT_GT(claims, 20);
}

}  // namespace
}  // namespace hogbatch
