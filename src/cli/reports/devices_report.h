// What `hogbatch devices` prints.
#pragma once

#include <string>

#include "training/devices/device_choice.h"
#include "training/devices/machine_facts.h"

namespace hogbatch {

struct DevicesReport {
  DeviceInfo processor;
  int cores = 1;
  gpu::DetectedDevices cuda;
  gpu::DetectedDevices opencl;
  std::string why_no_cache = {};  // empty: there is one
  MachineFacts machine = {};
};

std::string DevicesText(const DevicesReport& report);  // at most 80 columns
std::string DevicesJson(const DevicesReport& report);

}  // namespace hogbatch
