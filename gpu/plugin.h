// What the program and a plug-in say to each other. Both come from one build, so C++ types cross.
#pragma once

#include <memory>
#include <vector>

#include "device/device.h"

namespace hogbatch::gpu {

struct Plugin {
  // DeviceError with the reason if the interface itself does not work here (no driver, one too
  // old); an empty list if it works and has no device.
  std::vector<DeviceInfo> (*list)();
  // `info` as list() gave it.
  std::unique_ptr<Device> (*make)(const DeviceInfo& info);
};

// Each plug-in exports one function of this name and type. It returns null to a program of another
// version than its own.
using PluginEntry = const Plugin* (*)(const char* program_version);
inline constexpr char kPluginEntry[] = "hogbatch_plugin";

}  // namespace hogbatch::gpu
