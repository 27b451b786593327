// The folder that a run's files go to, and its growing record.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/replaced_file.h"

namespace hogbatch {

// Makes the folder `wanted` (and those above it), or a new one under runs/ named after the time
// when `wanted` is empty, and makes sure files can be made in it. Returns its path. A link is
// followed only if the user named it.
std::string MakeOutputFolder(const std::string& wanted, NamedBy named_by = NamedBy::kUser);

using FileTime = std::filesystem::file_time_type;
// When a file was last written.
FileTime TimeOf(const std::string& file);

// The folder under runs/ with the latest time, of equal ones the last by name. `time_of` gives
// none for folders that do not count. Empty: there is none.
std::string LatestFolder(
    const std::function<std::optional<FileTime>(const std::string& folder)>& time_of);

// TensorBoard takes every file for its own whose name holds "tfevents".
inline constexpr char kEventFile[] = "events.out.tfevents.hogbatch";

inline constexpr char kLockFile[] = ".lock";  // in the folder of a run; see FolderLock

// Prepares a folder that is used again for a new run. Its model stays until the new run has one,
// and is model.previous.safetensors, too. Its summary, event file and checkpoints are deleted.
// UserError if the checkpoints cannot be.
void SetAsideOldRun(const std::string& folder);

// Removes a folder that has nothing but a lock in it.
void RemoveUnusedFolder(const std::string& folder) noexcept;

// One run per folder: held until the program ends. UserError, with the other's process id, if
// another run holds it. Then removes what a run that was killed left half written, there and in the
// folders of its parts.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

// Drops what a resumed run will record again: the last lines of a metrics.jsonl, with more examples
// than the checkpoint has, and a line that is cut off. Earlier lines may have more, too: a run that
// diverges goes back.
void CutMetrics(const std::string& path, std::int64_t examples);

// A file that grows by whole records, such as lines, each there for readers before Append returns.
class GrowingFile {
 public:
  enum class Begin : std::uint8_t { kEmpty, kWhereItEnds };
  explicit GrowingFile(const std::string& path, Begin begin = Begin::kEmpty);
  ~GrowingFile();
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;

  // Throws Error when the disk is full.
  void Append(std::string_view record);

 private:
  std::string path_;
  int descriptor_;
};

}  // namespace hogbatch
