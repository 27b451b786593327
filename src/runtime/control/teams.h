// Workers that an algorithm treats alike: all CPU threads are one team, every other device is one.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "device/device_info.h"

namespace hogbatch {

struct Teams {
  std::vector<std::string> names;  // "cpu", "cuda.0", in the order of their first workers
  std::vector<int> of_worker;      // the team of each worker
};
Teams MakeTeams(std::span<const DeviceInfo> workers);

}  // namespace hogbatch
