#include "core/threads.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include <fstream>
#include <vector>

namespace hogbatch {
namespace {

// "max" or a number; empty: there is no such file.
std::string FirstWord(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

// The limit of the control group of this process, version 2 or 1; empty: none.
std::string GroupLimit() {
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (!controllers.empty() && controllers.find("pids") == std::string::npos) continue;
    const std::string root = controllers.empty() ? "/sys/fs/cgroup" : "/sys/fs/cgroup/pids";
    // In a container the path may be that of the host; its own group is then at the root.
    for (const std::string& path : {line.substr(second + 1), std::string("/")}) {
      const std::string limit = FirstWord(root + path + "/pids.max");
      if (!limit.empty() && limit != "max") return limit;
    }
  }
  return "";
}

}  // namespace

std::string ThreadLimits(const std::system_error& error) {
  std::vector<std::string> limits;
  rlimit user{};
  if (::getrlimit(RLIMIT_NPROC, &user) == 0 && user.rlim_cur != RLIM_INFINITY) {
    limits.push_back(fmt::format("{} for this user (ulimit -u)", user.rlim_cur));
  }
  if (const std::string group = GroupLimit(); !group.empty()) {
    limits.push_back(fmt::format("{} for this container (pids.max)", group));
  }
  rlimit memory{};
  if (::getrlimit(RLIMIT_AS, &memory) == 0 && memory.rlim_cur != RLIM_INFINITY) {
    limits.push_back(fmt::format("{} MB of memory (ulimit -v)", memory.rlim_cur >> 20));
  }
  return fmt::format(
      "cannot start a thread: {}; {}use fewer workers (--devices cpu:2) or raise the "
      "limit",
      error.code().message(),
      limits.empty() ? "" : fmt::format("limits: {}; ", fmt::join(limits, ", ")));
}

}  // namespace hogbatch
