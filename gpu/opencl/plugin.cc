#include "gpu/plugin.h"

#include <string_view>

#include "gpu/gpu_device.h"
#include "gpu/opencl/devices.h"
#include "gpu/opencl/driver.h"

namespace hogbatch::opencl {
namespace {

std::vector<DeviceInfo> List() {
  std::vector<DeviceInfo> infos;
  for (FoundDevice& found : FindDevices()) infos.push_back(std::move(found.info));
  return infos;
}

std::unique_ptr<Device> Make(const DeviceInfo& info) {
  return gpu::MakeGpuDevice(MakeDriver(info));
}

}  // namespace
}  // namespace hogbatch::opencl

extern "C" __attribute__((visibility("default"))) const hogbatch::gpu::Plugin* hogbatch_plugin(
    const char* program_version) {
  static constexpr hogbatch::gpu::Plugin kPlugin = {hogbatch::opencl::List, hogbatch::opencl::Make};
  return std::string_view(program_version) == HOGBATCH_VERSION ? &kPlugin : nullptr;
}
