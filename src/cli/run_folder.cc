#include "cli/run_folder.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "cli/interrupts.h"
#include "report/record_format.h"

namespace hogbatch {

RunFolder::RunFolder(const std::string& wanted, IfInterrupted then) : path_(wanted) {
  std::error_code error;
  is_new_ = !wanted.empty() && !std::filesystem::exists(wanted, error);
  if (is_new_ && then == IfInterrupted::kRemoveUnused) {
    RemoveWhenInterrupted(wanted, fmt::format("{}/{}", wanted, kLockFile));
  }
  if (!wanted.empty()) Lock();
}

RunFolder::~RunFolder() {
  if (is_new_ && !is_open_) RemoveUnusedFolder(path_);
}

const std::string& RunFolder::Open(std::optional<std::int64_t> resumed_examples) {
  if (!lock_) Lock();
  is_open_ = true;
  if (resumed_examples) {
    CutMetrics(path_ + "/" + report::kMetricsFile, *resumed_examples);
  } else {
    SetAsideOldRun(path_);
  }
  return path_;
}

void RunFolder::Lock() {
  path_ = MakeOutputFolder(path_);
  lock_.emplace(path_);
}

}  // namespace hogbatch
