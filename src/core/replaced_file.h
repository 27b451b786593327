// Files that are replaced whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace hogbatch {

// Who chose the name of a file. Where the program did, another user may have put a link or a pipe
// in its place: that is replaced, and nothing is written through it. Where the user did, a link is
// followed, and what is not a plain file (a device, a pipe) is written as it is.
enum class NamedBy : std::uint8_t { kProgram, kUser };

// Written aside in the same folder; Commit syncs it and renames it into place. Where the file
// system can do it (O_TMPFILE), it has no name until then, so that even a program that is killed
// leaves nothing behind; elsewhere it is NAME.PID-N.partial. The new file is no more accessible
// than the one that it replaces. A pipe must find a reader within seconds. A folder is refused.
class ReplacedFile {
 public:
  explicit ReplacedFile(const std::string& path, NamedBy named_by = NamedBy::kProgram);
  ReplacedFile(const ReplacedFile&) = delete;
  ReplacedFile& operator=(const ReplacedFile&) = delete;
  ~ReplacedFile();

  void Write(std::span<const std::byte> bytes);
  // At a place of the file, which must not be a pipe.
  void WriteAt(std::size_t place, std::span<const std::byte> bytes);
  // kNo is for files that can be made again, and of which damage is noticed.
  enum class Sync : std::uint8_t { kYes, kNo };
  void Commit(Sync sync = Sync::kYes);

 private:
  void OpenAside();
  template <typename Take>
  bool TakeName(const Take& take);

  std::string path_;
  std::string aside_;  // empty: written in place, or without a name
  bool is_unnamed_ = false;
  int descriptor_ = -1;
};

// Removes files that were left half written in a folder, which no other program writes into: the
// number of a process that is gone may be that of another one by now.
void RemovePartialFiles(const std::string& folder);

void ReplaceFile(const std::string& path, std::string_view content,
                 NamedBy named_by = NamedBy::kProgram);

// What a chain of links ends at, which need not be there yet; without links `path` itself.
std::string FollowLinks(const std::string& path);

// A descriptor of a file that the program named, made if it is not there; `flags` are those of
// open. It is the program's own: no link, no pipe, and under no other name, since writing it would
// change what another user put there. UserError if it is none.
int OpenOwn(const std::string& path, int flags);

// Writes all of `bytes`; `path` is for the message of an Error.
void WriteAll(int descriptor, std::span<const std::byte> bytes, const std::string& path);

}  // namespace hogbatch
