// The suite on what every GPU shares: the device made from a driver, here one over host memory.
#include "gpu/gpu_device.h"
#include "tests/device/on_device.h"
#include "tests/gpu/host_driver.h"

namespace hogbatch {

std::vector<DeviceFactory> AllDevices() {
  const auto make = [](gpu::Libraries libraries, std::uint32_t seed) {
    return gpu::MakeGpuDevice(gpu::MakeHostDriver({.seed = seed, .libraries = libraries}));
  };
  return {{"OverHost", [=] { return make(gpu::Libraries::kNone, 1); }},
          {"OverHostThatFuses", [=] { return make(gpu::Libraries::kFusing, 2); }}};
}

// The driver looks for what was left behind itself.
void CheckAfterDevice() {}

}  // namespace hogbatch
