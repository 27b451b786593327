// The folder of a training, from its making to its first file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/files.h"

namespace hogbatch {

// No other run uses it while this lives.
class RunFolder {
 public:
  // kRemoveUnused: of the one training of the program; see RemoveWhenInterrupted.
  enum class IfInterrupted : std::uint8_t { kKeep, kRemoveUnused };

  // A folder that is named is checked and locked at once, before a large file is read. A dated one,
  // for an empty name, is made when needed.
  explicit RunFolder(const std::string& wanted, IfInterrupted then = IfInterrupted::kKeep);
  // A run that fails before it has a file leaves no folder.
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  // Ready for the files of a run: a new one, or one that goes on and has trained this many rows.
  const std::string& Open(std::optional<std::int64_t> resumed_examples);

 private:
  void Lock();

  std::string path_;
  std::optional<FolderLock> lock_;
  bool is_new_ = false;
  bool is_open_ = false;
};

}  // namespace hogbatch
