#include "gpu/gpu.h"

#include "core/error.h"

namespace hogbatch::gpu {

Offer Ask(Interface interface) {
  return {.interface = interface, .devices = {}, .why_none = "this program was built without it"};
}

std::unique_ptr<Device> MakeDevice(const DeviceInfo& info) {
  throw DeviceError(info.name + ": this program was built without it");
}

}  // namespace hogbatch::gpu
