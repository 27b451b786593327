// A plug-in that lists two GPUs and can make neither; or one with another fault, as it is compiled.
#include "core/error.h"
#include "gpu/plugin.h"

namespace hogbatch::gpu {
namespace {

std::vector<DeviceInfo> List() {
#if defined(FAKE_OLD_DRIVER)
  throw DeviceError("CUDA: the driver is older than the runtime; update the driver");
#elif defined(FAKE_NO_DEVICE)
  return {};
#else
  std::vector<DeviceInfo> infos(2);
  for (DeviceInfo& info : infos) {
    info.name = &info == infos.data() ? "cuda.0" : "cuda.1";
    info.description = "a GPU of paper";
    info.kind = DeviceKind::kCuda;
    info.shares_host_memory = false;
    info.memory_bytes = 2'000'000'000;
  }
  return infos;
#endif
}

std::unique_ptr<Device> Make(const DeviceInfo& info) {
  throw DeviceError(info.name + " (" + info.description + "): cudaStreamCreate: out of paper");
}

[[maybe_unused]] constexpr Plugin kPlugin{.list = List, .make = Make};

}  // namespace
}  // namespace hogbatch::gpu

extern "C" __attribute__((visibility("default"))) const hogbatch::gpu::Plugin* hogbatch_plugin(
    const char*) {
#if defined(FAKE_OTHER_VERSION)
  return nullptr;
#else
  return &hogbatch::gpu::kPlugin;
#endif
}
