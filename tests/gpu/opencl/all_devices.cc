// The conformance suite on the OpenCL devices of this machine, through the driver alone; on
// processors also with what GPUs get.
#include <cstdlib>

#include "gpu/gpu_device.h"
#include "gpu/opencl/driver.h"
#include "tests/device/on_device.h"
#include "tests/gpu/opencl/devices.h"

namespace hogbatch {

std::vector<DeviceFactory> AllDevices() {
  std::vector<DeviceFactory> factories;
  const auto add = [&](const DeviceInfo& info, const std::string& name, bool as_gpu) {
    factories.push_back(
        {name, [=] { return gpu::MakeGpuDevice(opencl::MakeDriver(info, {.as_gpu = as_gpu})); }});
  };
  int number = 0;
  for (const opencl::FoundDevice& found : opencl::DevicesHere()) {
    const std::string name = "OpenCl" + std::to_string(number++);
    add(found.info, name, false);
    if (found.info.on_processor) add(found.info, name + "AsGpu", true);
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
