// The folder that a run's files go to, and its growing record.
#pragma once

#include <string>
#include <string_view>

namespace hogbatch {

// Makes the folder `wanted` (and those above it), or a new one under runs/ named after the time
// when `wanted` is empty, and makes sure files can be made in it. Returns its path.
std::string MakeOutputFolder(const std::string& wanted);

// Prepares a folder that is used again: its model becomes model.previous.safetensors and its
// summary is deleted, so that all files are of one run in the end.
void SetAsideOldRun(const std::string& folder);

// A text file that grows by whole lines, each on disk for readers before Append returns.
class LineFile {
 public:
  explicit LineFile(const std::string& path);
  ~LineFile();
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  // Adds a newline. Throws Error when the disk is full.
  void Append(std::string_view line);

 private:
  std::string path_;
  int descriptor_;
};

}  // namespace hogbatch
