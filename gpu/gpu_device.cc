#include "gpu/gpu_device.h"

#include "core/error.h"

namespace hogbatch::gpu {

std::unique_ptr<Device> MakeGpuDevice(std::unique_ptr<Driver> driver) {
  throw DeviceError(driver->info().name + ": there is no GPU device yet");
}

}  // namespace hogbatch::gpu
