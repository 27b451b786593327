#include "cli/resume.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "cli/sweep/sweep_files.h"
#include "core/error.h"
#include "training/job_parts.h"

namespace hogbatch {
namespace {

namespace fs = std::filesystem;

// The folder under runs/ whose newest checkpoint is the latest; of equal ones the last by name.
// Empty: there is none.
std::string LatestRun() {
  std::error_code error;
  std::pair<fs::file_time_type, std::string> latest{fs::file_time_type::min(), ""};
  for (const fs::directory_entry& entry : fs::directory_iterator("runs", error)) {
    const std::vector<std::string> found = ListCheckpoints(entry.path());
    if (found.empty()) continue;
    latest = std::max(latest, {fs::last_write_time(found.front(), error), entry.path().string()});
  }
  return latest.second;
}

std::string FolderOf(const TrainOptions& options) {
  if (options.resume != "auto") return options.resume;
  return options.out.empty() ? LatestRun() : options.out;
}

}  // namespace

std::string FindRun(const TrainOptions& options) {
  if (options.resume.empty()) return "";
  if (options.resume != "auto" && !options.out.empty()) {
    throw UserError("--out: a resumed run goes on in its own folder; leave out --out or --resume");
  }
  std::string folder = FolderOf(options);
  if (!folder.empty() && !ListCheckpoints(folder).empty()) return folder;
  if (!folder.empty() && HoldsSweep(folder)) {
    throw UserError(fmt::format(
        "{0} holds a sweep, an ensemble or folds; go on with it: hogbatch sweep --resume {0}",
        folder));
  }
  if (options.resume == "auto") return "";
  throw UserError(fmt::format(
      "{} holds no checkpoint to resume from; name the folder of a run, or leave out --resume",
      folder));
}

ResumedRun ReadRun(const std::string& folder, Console& console) {
  std::optional<Checkpoint> newest =
      NewestCheckpoint(folder, [&](std::string_view why) { console.Warn(why); });
  if (!newest) throw UserError(fmt::format("{} holds no checkpoint any more", folder));
  return {.folder = folder, .checkpoint = std::move(*newest)};
}

std::int64_t ExamplesOf(const ResumedRun& run) { return TrainedRows(run.checkpoint, run.folder); }

std::string ResumeLine(const ResumedRun& run, std::int64_t train_rows) {
  return fmt::format("resumed   {} at epoch {:.3f}", run.folder,
                     static_cast<double>(ExamplesOf(run)) / static_cast<double>(train_rows));
}

}  // namespace hogbatch
