#include "core/guard/machine_limits.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "core/guard/small_file.h"
#include "core/text.h"

namespace hogbatch {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = 1 << 20;

std::vector<std::string> WordsOf(const fs::path& path) {
  std::vector<std::string> words;
  const std::string text = ReadSmallFile(path.string(), kMostBytes).value_or("");
  for (std::size_t at = 0; (at = text.find_first_not_of(" \n", at)) != std::string::npos;) {
    const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

// A number above 0; "max", -1 and the like are none.
std::optional<double> Amount(const std::vector<std::string>& words, std::size_t index) {
  double value = 0;
  if (words.size() <= index || !ReadAll(words[index], value) || !(value > 0)) return std::nullopt;
  return value;
}

template <typename T>
void Tighten(std::optional<T>& limit, std::optional<T> other) {
  if (other && (!limit || *other < *limit)) limit = other;
}

void TightenCount(const fs::path& file, std::optional<std::int64_t>& limit) {
  constexpr double kNoLimit = 0x1p60;  // version 1 writes nearly 2^63 for none
  const std::optional<double> count = Amount(WordsOf(file), 0);
  if (count && *count < kNoLimit) Tighten(limit, std::optional(static_cast<std::int64_t>(*count)));
}

void TightenCores(std::optional<double> quota, std::optional<double> period,
                  MachineLimits& limits) {
  if (quota && period) Tighten(limits.cores, std::optional(*quota / *period));
}

// Calls look(folder) for a group's folder and all around it. Inside a container the path of the
// group may not exist; then the top, which is the container's own, counts.
template <typename Look>
void ForEachAround(const fs::path& top, const fs::path& group, const Look& look) {
  fs::path folder = group.relative_path();
  while (!folder.empty()) {
    look(top / folder);
    folder = folder.parent_path();
  }
  look(top);
}

// Version 2: one tree for everything, which may be mounted beside those of version 1.
void TightenByVersion2(const fs::path& top, const fs::path& group, MachineLimits& limits) {
  for (const fs::path& mount : {top, top / "unified"}) {
    ForEachAround(mount, group, [&](const fs::path& folder) {
      TightenCount(folder / "memory.max", limits.memory_bytes);
      TightenCount(folder / "pids.max", limits.threads);
      const std::vector<std::string> words = WordsOf(folder / "cpu.max");
      TightenCores(Amount(words, 0), Amount(words, 1), limits);
    });
  }
}

// Version 1: a tree for each resource, or for some together ("cpu,cpuacct").
void TightenByVersion1(const fs::path& top, const std::string& names, const fs::path& group,
                       MachineLimits& limits) {
  const auto has = [listed = "," + names + ","](std::string_view name) {
    return listed.find(name) != std::string::npos;
  };
  for (const fs::path& mount : {top / "memory", top / names}) {
    if (!has(",memory,")) break;
    ForEachAround(mount, group, [&](const fs::path& folder) {
      TightenCount(folder / "memory.limit_in_bytes", limits.memory_bytes);
    });
  }
  for (const fs::path& mount : {top / "cpu", top / names}) {
    if (!has(",cpu,")) break;
    ForEachAround(mount, group, [&](const fs::path& folder) {
      TightenCores(Amount(WordsOf(folder / "cpu.cfs_quota_us"), 0),
                   Amount(WordsOf(folder / "cpu.cfs_period_us"), 0), limits);
    });
  }
  if (!has(",pids,")) return;
  ForEachAround(top / "pids", group,
                [&](const fs::path& folder) { TightenCount(folder / "pids.max", limits.threads); });
}

}  // namespace

MachineLimits ReadCgroupLimits(const fs::path& root) {
  MachineLimits limits;
  const fs::path top = root / "sys/fs/cgroup";
  const std::string groups =
      ReadSmallFile((root / "proc/self/cgroup").string(), kMostBytes).value_or("");
  for (std::string_view rest = groups; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    // "4:cpu,cpuacct:/path"; version 2 has "0::/path".
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const std::string names(line.substr(first + 1, second - first - 1));
    const fs::path group = line.substr(second + 1);
    if (names.empty()) {
      TightenByVersion2(top, group, limits);
    } else {
      TightenByVersion1(top, names, group, limits);
    }
  }
  return limits;
}

std::int64_t UsableMemory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  const std::int64_t physical =
      pages > 0 && page > 0 ? std::int64_t{pages} * page : std::int64_t{1} << 33;
  return std::min(physical, ReadCgroupLimits().memory_bytes.value_or(physical));
}

std::optional<std::int64_t> AddressSpaceLeft() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  const double pages = Amount(WordsOf("/proc/self/statm"), 0).value_or(0);
  const auto taken = static_cast<std::int64_t>(pages) * ::sysconf(_SC_PAGESIZE);
  return std::max<std::int64_t>(0, static_cast<std::int64_t>(limit.rlim_cur) - taken);
}

int UsableCores(int cores) {
  const double allowed = ReadCgroupLimits().cores.value_or(cores);
  return std::clamp(static_cast<int>(std::ceil(std::min<double>(allowed, cores))), 1,
                    std::max(1, cores));
}

}  // namespace hogbatch
