// libhogbatch_cuda.so: the program's only access to CUDA.
#include "gpu/plugin.h"

#include <string_view>

#include "gpu/cuda/cuda_driver.h"
#include "gpu/gpu_device.h"

namespace hogbatch::cuda {
namespace {

std::unique_ptr<Device> MakeDevice(const DeviceInfo& info) {
  return gpu::MakeGpuDevice(MakeDriver(info));
}

constexpr gpu::Plugin kPlugin{.list = ListDevices, .make = MakeDevice};

}  // namespace
}  // namespace hogbatch::cuda

extern "C" __attribute__((visibility("default"))) const hogbatch::gpu::Plugin* hogbatch_plugin(
    const char* program_version) {
  const bool same_build = std::string_view(program_version) == HOGBATCH_VERSION;
  return same_build ? &hogbatch::cuda::kPlugin : nullptr;
}
