#include "cli/queue/watched_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "cli/queue/jobs_file.h"

namespace hogbatch {

// A file that is still being copied differs from one look to the next.
WatchedFiles::Changes WatchedFiles::Look() {
  Changes changes;
  const auto files = JobFiles(folder_);
  if (!files) return changes;
  for (const std::string& path : *files) {
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0) continue;
    const Stamp stamp{
        .file = status.st_ino,
        .bytes = status.st_size,
        .written = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec};
    const auto [seen, is_new] = seen_.try_emplace(path, Seen{.stamp = stamp});
    if (is_new || seen->second.stamp != stamp) {
      seen->second = {.stamp = stamp};
    } else if (!std::exchange(seen->second.is_told, true)) {
      changes.settled.push_back(path);
    }
  }
  std::erase_if(seen_, [&](const auto& seen) {
    const bool is_gone = !std::ranges::binary_search(*files, seen.first);
    if (is_gone) changes.gone.push_back(seen.first);
    return is_gone;
  });
  return changes;
}

}  // namespace hogbatch
