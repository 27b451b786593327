// The CPU device: one core, host memory, own tiles and loops.
#pragma once

#include <memory>

#include "device/device.h"

namespace hogbatch::cpu {

// What `hogbatch devices` says of the processor: its name and its instruction set.
DeviceInfo Describe();

// One core as a device, for one thread at a time.
std::unique_ptr<Device> MakeDevice(DeviceInfo info);

}  // namespace hogbatch::cpu
