// The CPU device: one core, host memory, own tiles and loops, oneDNN for large batches.
#pragma once

#include <memory>

#include "device/device.h"

namespace hogbatch::cpu {

// What `hogbatch devices` says of the processor: its name and its instruction set.
DeviceInfo Describe();

// One core as a device. To be called on the thread that will use it: oneDNN is held to one thread
// there.
std::unique_ptr<Device> MakeDevice(DeviceInfo info);

}  // namespace hogbatch::cpu
