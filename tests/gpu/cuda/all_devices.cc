// The conformance suite on every NVIDIA GPU of the machine.
#include "gpu/gpu.h"
#include "tests/device/on_device.h"

namespace hogbatch {

std::vector<DeviceFactory> AllDevices() {
  std::vector<DeviceFactory> factories;
  for (const DeviceInfo& info : gpu::Ask(gpu::Interface::kCuda).devices) {
    const std::string name = "Cuda" + std::to_string(factories.size());
    factories.push_back({name, [info] { return gpu::MakeDevice(info); }});
  }
  return factories;
}

void CheckAfterDevice() {}

namespace {

// Without a GPU the suite makes no claim at all; this one says so.
TEST(CudaDevice, RunsTheSuiteOnAGpu) {
  const gpu::DetectedDevices detected = gpu::Ask(gpu::Interface::kCuda);
  if (detected.devices.empty()) GTEST_SKIP() << "no CUDA device: " << detected.why_none;
  for (const DeviceInfo& info : detected.devices) {
    EXPECT_EQ(gpu::MakeDevice(info)->info().name, info.name);
  }
}

}  // namespace
}  // namespace hogbatch
