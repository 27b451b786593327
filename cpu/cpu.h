// The CPU device: one core, own vectorised loops, host memory.
#pragma once

#include <memory>

#include "device/device.h"

namespace hogbatch::cpu {

// What `hogbatch devices` says of the processor: its name and its instruction set.
DeviceInfo Describe();

// One core as a device. To be called on the thread that will use it.
std::unique_ptr<Device> MakeDevice(DeviceInfo info);

}  // namespace hogbatch::cpu
