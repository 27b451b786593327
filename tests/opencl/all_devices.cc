// The conformance suite on the OpenCL devices of this machine, through the driver alone.
#include <cstdlib>

#include "gpu/gpu_device.h"
#include "gpu/opencl/driver.h"
#include "tests/device/on_device.h"
#include "tests/opencl/devices.h"

namespace hogbatch {

std::vector<DeviceFactory> AllDevices() {
  std::vector<DeviceFactory> factories;
  for (const opencl::FoundDevice& found : opencl::DevicesHere()) {
    std::string name = "OpenCl" + std::to_string(factories.size());
    factories.push_back({std::move(name), [info = found.info] {
                           return gpu::MakeGpuDevice(opencl::MakeDriver(info));
                         }});
  }
  return factories;
}

void CheckAfterDevice() {}

namespace {

TEST(OpenClSuite, RunsOnADevice) {
  if (!AllDevices().empty()) return;
  const char* const none = "there is no OpenCL device here: no claim was checked";
  // Where one was installed for the tests, none must not pass for success.
  if (std::getenv("HOGBATCH_EXPECT_OPENCL")) FAIL() << none;
  GTEST_SKIP() << none;
}

}  // namespace
}  // namespace hogbatch
