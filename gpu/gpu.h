// The GPUs of this machine. Their back ends are plug-ins opened at run time, so that the program
// also runs without a driver and its libraries.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/device.h"

namespace hogbatch::gpu {

enum class Interface : std::uint8_t { kCuda, kOpenCl };

// The devices of one interface on this machine, or the reason why there are none and what to do
// about it. The devices are named "cuda.0", "opencl.1" in the order of the interface.
struct DetectedDevices {
  Interface interface = Interface::kCuda;
  std::vector<DeviceInfo> devices;
  std::string why_none;  // empty if there are devices
};

// Looks for devices. Opens the interface's plug-in if it may find one. A missing driver or device
// is not an exception.
DetectedDevices Ask(Interface interface);

// Makes a device that Ask listed. To be called on the thread that will use it. DeviceError if that
// fails.
std::unique_ptr<Device> MakeDevice(const DeviceInfo& info);

}  // namespace hogbatch::gpu
