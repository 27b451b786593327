#include "runtime/control/teams.h"

#include <algorithm>

namespace hogbatch {

Teams MakeTeams(std::span<const DeviceInfo> workers) {
  Teams teams;
  for (const DeviceInfo& worker : workers) {
    const std::string name = worker.kind == DeviceKind::kCpu ? "cpu" : worker.name;
    const auto found = std::find(teams.names.begin(), teams.names.end(), name);
    teams.of_worker.push_back(found - teams.names.begin());
    if (found == teams.names.end()) teams.names.push_back(name);
  }
  return teams;
}

}  // namespace hogbatch
