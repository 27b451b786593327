// The suite on two feigned GPUs: the CUDA driver's own objects, over the stand-in.
#include "gpu/cuda/cuda_driver.h"
#include "gpu/gpu_device.h"
#include "tests/device/on_device.h"
#include "tests/gpu/cuda_standin/standin.h"

namespace hogbatch {

std::vector<DeviceFactory> AllDevices() {
  const auto make = [](std::size_t number) {
    return gpu::MakeGpuDevice(cuda::MakeDriver(cuda::ListDevices().at(number)));
  };
  return {{"Cuda0", [=] { return make(0); }}, {"Cuda1", [=] { return make(1); }}};
}

void CheckAfterDevice() {
  for (const std::string& sentence : standin::TakeViolations()) ADD_FAILURE() << sentence;
}

}  // namespace hogbatch
