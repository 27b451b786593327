// The GPUs of this machine. Their back ends are plug-ins opened at run time: a machine without a
// driver or its libraries loses the GPU and nothing else.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/device.h"

namespace hogbatch::gpu {

enum class Interface : std::uint8_t { kCuda, kOpenCl };

// What one interface offers here: devices, or the reason why there are none and what to do about
// it. The devices are named "cuda.0", "opencl.1" in the order of the interface.
struct Offer {
  Interface interface = Interface::kCuda;
  std::vector<DeviceInfo> devices;
  std::string why_none;  // empty if there are devices
};

// Looks for devices; opens the interface's plug-in if that has a chance to find one. Never throws
// for what a machine lacks.
Offer Ask(Interface interface);

// A device that Ask listed. To be called on the thread that will use it. DeviceError if it cannot
// be made.
std::unique_ptr<Device> MakeDevice(const DeviceInfo& info);

}  // namespace hogbatch::gpu
