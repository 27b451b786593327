// Files that are replaced whole or not at all.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace hogbatch {

// Written aside in the same folder; Commit syncs it and renames it into place. Uncommitted it
// leaves nothing behind. A link is followed, and what is not a plain file (a device, a pipe) is
// written as it is: renaming would put a file in its place.
class ReplacedFile {
 public:
  explicit ReplacedFile(const std::string& path);
  ReplacedFile(const ReplacedFile&) = delete;
  ReplacedFile& operator=(const ReplacedFile&) = delete;
  ~ReplacedFile();

  void Write(std::span<const std::byte> bytes);
  void Commit();

 private:
  void SyncFolder() const;

  std::string path_;
  std::string aside_;  // empty: written in place
  int descriptor_ = -1;
};

void ReplaceFile(const std::string& path, std::string_view content);

// Writes all of `bytes`; `path` is for the message of an Error.
// Opens for writing as open(2) does, but fails at a pipe that no program reads, where open would
// wait for one. Throws UserError for that; other failures return -1.
int OpenWithoutWaiting(const std::string& path, int flags);

void WriteAll(int descriptor, std::span<const std::byte> bytes, const std::string& path);

}  // namespace hogbatch
