// The folder that a run's files go to, and its growing record.
#pragma once

#include <string>
#include <string_view>

namespace hogbatch {

// Makes the folder `wanted` (and those above it), or a new one under runs/ named after the time
// when `wanted` is empty, and makes sure files can be made in it. Returns its path.
std::string MakeOutputFolder(const std::string& wanted);

// TensorBoard takes every file for its own whose name holds "tfevents".
inline constexpr char kEventFile[] = "events.out.tfevents.hogbatch";

// Prepares a folder that is used again: its model becomes model.previous.safetensors; its summary
// and event file are deleted. So all files are of one run in the end.
void SetAsideOldRun(const std::string& folder);

// A file that grows by whole records, such as lines, each there for readers before Append returns.
class GrowingFile {
 public:
  explicit GrowingFile(const std::string& path);
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
