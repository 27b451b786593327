#include "core/guard/cache_folder.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <system_error>

namespace hogbatch {

namespace fs = std::filesystem;

namespace {

// What a run that was killed while it wrote has left. A file of this kind exists only briefly,
// so an old one belongs to no running program.
void RemoveLeftovers(const fs::path& folder) {
  constexpr std::chrono::hours kOld(1);
  std::error_code error;
  const auto now = fs::file_time_type::clock::now();
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".partial") continue;
    const auto written = entry.last_write_time(error);
    if (!error && now - written > kOld) fs::remove(entry.path(), error);
  }
}

}  // namespace

std::optional<fs::path> DefaultCacheFolder() {
  const auto from = [](const char* variable) -> std::optional<fs::path> {
    const char* const value = std::getenv(variable);
    if (value == nullptr || !fs::path(value).is_absolute()) return std::nullopt;
    return fs::path(value);
  };
  if (const auto cache = from("XDG_CACHE_HOME")) return *cache / "hogbatch";
  if (const auto home = from("HOME")) return *home / ".cache" / "hogbatch";
  return std::nullopt;
}

std::string WhyNoCache(const fs::path& folder) {
  struct stat status{};
  if (::lstat(folder.c_str(), &status) != 0) return "";
  if (!S_ISDIR(status.st_mode)) return fmt::format("{} is no folder: remove it", folder.string());
  if (status.st_uid != ::geteuid()) {
    return fmt::format("{} belongs to another user: name a folder of your own in XDG_CACHE_HOME",
                       folder.string());
  }
  if ((status.st_mode & 0022) != 0) {
    return fmt::format("others can write into {}: remove it, and a new one is made",
                       folder.string());
  }
  return "";
}

bool OpenCacheFolder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder.parent_path(), error);
  if (::mkdir(folder.c_str(), 0700) == 0) return true;
  if (!fs::is_directory(folder, error) || !WhyNoCache(folder).empty()) return false;
  // An earlier version let others look into it.
  fs::permissions(folder, fs::perms::owner_all, error);
  if (error) return false;
  RemoveLeftovers(folder);
  return true;
}

}  // namespace hogbatch
