// Workers that an algorithm treats alike: all CPU threads are one team, every other device is one.
#pragma once

#include <span>
#include <string>

#include "core/ids.h"
#include "core/indexed_vector.h"
#include "device/device_info.h"

namespace hogbatch {

struct Teams {
  IndexedVector<TeamId, std::string> names;  // "cpu", "cuda.0", in the order of their first workers
  IndexedVector<WorkerId, TeamId> of_worker;
};
Teams MakeTeams(std::span<const DeviceInfo> workers);

}  // namespace hogbatch
