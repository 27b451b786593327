// The CPU device: one core, oneDNN inside, host memory.
#pragma once

#include <memory>

#include "device/device.h"

namespace hogbatch::cpu {

// What `hogbatch devices` says of the processor: its name and the instructions oneDNN will use.
DeviceInfo Describe();

// One core as a device. To be called on the thread that will use it: oneDNN is held to one thread
// there.
std::unique_ptr<Device> MakeDevice(DeviceInfo info);

}  // namespace hogbatch::cpu
