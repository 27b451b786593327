#include "training/devices/machine_facts.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <set>
#include <utility>

#include "core/guard/cache_folder.h"
#include "core/guard/machine_limits.h"
#include "core/text.h"

namespace hogbatch {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kLittleSpace = std::int64_t{1} << 30;

std::string FirstLine(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::vector<std::string> CachesOf(const fs::path& root) {
  std::vector<std::string> caches;
  for (int i = 0; i < 8; ++i) {
    const fs::path folder = root / "sys/devices/system/cpu/cpu0/cache" / fmt::format("index{}", i);
    const std::string level = FirstLine(folder / "level"), size = FirstLine(folder / "size");
    const std::string type = FirstLine(folder / "type");
    if (level.empty() || size.empty() || type == "Instruction") continue;
    caches.push_back(fmt::format("L{}{} {}", level, type == "Data" ? "d" : "", size));
  }
  return caches;
}

// How many numbers a list such as "0-3,8" has.
int CountOf(std::string_view list) {
  int count = 0;
  for (const std::string& part : SplitList(list)) {
    const std::size_t dash = part.find('-');
    std::int64_t first = 0, last = 0;
    if (!ReadAll(std::string_view(part).substr(0, dash), first)) continue;
    last = first;
    if (dash != std::string::npos) ReadAll(std::string_view(part).substr(dash + 1), last);
    count += static_cast<int>(std::max<std::int64_t>(0, last - first + 1));
  }
  return std::max(count, 1);
}

int NumaNodes(const fs::path& root) {
  int nodes = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root / "sys/devices/system/node", error)) {
    const std::string name = entry.path().filename();
    const bool is_node = name.starts_with("node") && name.size() > 4 &&
                         name.find_first_not_of("0123456789", 4) == std::string::npos;
    if (is_node) ++nodes;
  }
  return std::max(nodes, 1);
}

int PhysicalCores(const fs::path& root) {
  std::set<std::string> cores;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root / "sys/devices/system/cpu", error)) {
    const std::string siblings = FirstLine(entry.path() / "topology/thread_siblings_list");
    if (!siblings.empty()) cores.insert(siblings);
  }
  return static_cast<int>(cores.size());
}

std::int64_t AvailableMemory(const fs::path& root) {
  std::ifstream file(root / "proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("MemAvailable:")) continue;
    const std::size_t digits = std::min(line.find_first_of("0123456789"), line.size());
    std::int64_t kilobytes = 0;
    std::from_chars(line.data() + digits, line.data() + line.size(), kilobytes);
    return kilobytes * 1024;
  }
  return 0;
}

std::optional<DiskSpace> SpaceAt(std::string what, const fs::path& path) {
  std::error_code error;
  fs::path there = path;
  while (!there.empty() && !fs::exists(there, error) && there != there.parent_path()) {
    there = there.parent_path();
  }
  const fs::space_info space = fs::space(there, error);
  if (error) return std::nullopt;
  return DiskSpace{.what = std::move(what),
                   .path = path.string(),
                   .free_bytes = static_cast<std::int64_t>(space.available)};
}

// OpenCL on processors (PoCL) compiles into its cache, and finds no device without one.
std::optional<Finding> HomeFinding() {
  const char* const home = std::getenv("HOME");
  const char* const cache = std::getenv("POCL_CACHE_DIR");
  if (cache != nullptr && ::access(cache, W_OK) == 0) return std::nullopt;
  if (home != nullptr && ::access(home, W_OK) == 0) return std::nullopt;
  return Finding{.what =
                     "the home folder cannot be written, so that PoCL (OpenCL on processors) "
                     "finds no device",
                 .remedy = "set POCL_CACHE_DIR to a folder that can be written"};
}

}  // namespace

std::int64_t CoreCacheBytes(const fs::path& root) {
  constexpr std::int64_t kUsual = std::int64_t{1} << 20;
  const fs::path core = root / "sys/devices/system/cpu/cpu0";
  for (int i = 0; i < 8; ++i) {
    const fs::path folder = core / "cache" / fmt::format("index{}", i);
    if (FirstLine(folder / "level") != "2") continue;
    std::string size = FirstLine(folder / "size");
    const std::int64_t unit = size.ends_with('K') ? 1 << 10 : size.ends_with('M') ? 1 << 20 : 1;
    if (unit > 1) size.pop_back();
    std::int64_t count = 0;
    if (!ReadAll(size, count) || count <= 0) continue;
    const int threads = CountOf(FirstLine(core / "topology/thread_siblings_list"));
    const int sharing = CountOf(FirstLine(folder / "shared_cpu_list"));
    return count * unit / std::max(1, sharing / threads);
  }
  return kUsual;
}

MachineFacts LookAtMachine(const fs::path& root) {
  MachineFacts facts{.caches = CachesOf(root),
                     .numa_nodes = NumaNodes(root),
                     .physical_cores = PhysicalCores(root),
                     .memory_bytes = UsableMemory(),
                     .available_bytes = AvailableMemory(root),
                     .disks = {},
                     .findings = {}};
  std::error_code error;
  const auto cache = DefaultCacheFolder();
  const std::array<std::pair<std::string, fs::path>, 3> places = {
      {{"this folder", fs::current_path(error)},
       {"temporary files", fs::temp_directory_path(error)},
       {"the cache", cache.value_or(fs::path())}}};
  for (const auto& [what, path] : places) {
    if (path.empty()) continue;
    const auto space = SpaceAt(what, path);
    if (!space) continue;
    facts.disks.push_back(*space);
    if (space->free_bytes < kLittleSpace) {
      facts.findings.push_back(
          {.what = fmt::format("{} ({}) has less than 1 GB left", what, space->path),
           .remedy = "remove files there, or use another disk"});
    }
  }
  if (!cache) {
    facts.findings.push_back({.what = "there is no home folder for a cache, so that data and "
                                      "measurements are made again at each start",
                              .remedy = "set HOME or XDG_CACHE_HOME"});
  }
  if (const auto home = HomeFinding()) facts.findings.push_back(*home);
  return facts;
}

}  // namespace hogbatch
