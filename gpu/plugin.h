// The interface between the program and a plug-in. Both come from one build, so C++ types can be
// used.
#pragma once

#include <memory>
#include <vector>

#include "device/device.h"

namespace hogbatch::gpu {

struct Plugin {
  // DeviceError with the reason if the interface does not work here (driver missing or too old). An
  // empty list if it works but has no device.
  std::vector<DeviceInfo> (*list)();
  // `info` comes from list().
  std::unique_ptr<Device> (*make)(const DeviceInfo& info);
};

// Each plug-in exports one function of this name and type. It returns null if the program has
// another version.
using PluginEntry = const Plugin* (*)(const char* program_version);
inline constexpr char kPluginEntry[] = "hogbatch_plugin";

}  // namespace hogbatch::gpu
