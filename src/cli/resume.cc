#include "cli/resume.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <vector>

#include "cli/sweep/sweep_files.h"
#include "core/error.h"
#include "training/checkpoint/spec_text.h"
#include "training/job_parts.h"

namespace hogbatch {
namespace {

namespace fs = std::filesystem;

// How long a run lasts and what it runs on. Another network, other data or another optimiser would
// be another run.
constexpr std::array<std::string_view, 8> kMayChange = {"epochs",       "max-time", "target-loss",
                                                        "patience",     "devices",  "report-every",
                                                        "memory-limit", "no-cache"};

// The latest folder under runs/ that has a checkpoint; empty: there is none.
std::string LatestRun() {
  std::error_code error;
  std::vector<std::string> folders;
  for (const fs::directory_entry& entry : fs::directory_iterator("runs", error)) {
    if (!ListCheckpoints(entry.path()).empty()) folders.push_back(entry.path());
  }
  return folders.empty() ? "" : *std::ranges::max_element(folders);
}

std::string FolderOf(const TrainOptions& options) {
  if (options.resume != "auto") return options.resume;
  return options.out.empty() ? LatestRun() : options.out;
}

}  // namespace

std::optional<ResumedRun> FindRun(const TrainOptions& options, Console& console) {
  if (options.resume.empty()) return std::nullopt;
  if (options.resume != "auto" && !options.out.empty()) {
    throw UserError("--out: a resumed run goes on in its own folder; leave out --out or --resume");
  }
  const std::string folder = FolderOf(options);
  const std::vector<std::string> paths =
      folder.empty() ? std::vector<std::string>() : ListCheckpoints(folder);
  if (paths.empty() && !folder.empty() && HoldsSweep(folder)) {
    throw UserError(fmt::format(
        "{0} holds a sweep, an ensemble or folds; go on with it: hogbatch sweep --resume {0}",
        folder));
  }
  if (paths.empty() && options.resume == "auto") return std::nullopt;
  if (paths.empty()) {
    throw UserError(fmt::format(
        "{} holds no checkpoint to resume from; name the folder of a run, or leave out --resume",
        folder));
  }
  for (std::size_t i = 0; i < paths.size(); ++i) {
    try {
      return ResumedRun{.folder = folder, .checkpoint = ReadCheckpoint(paths[i])};
    } catch (const UserError& error) {
      if (i + 1 == paths.size()) throw;
      console.Warn(fmt::format("{}; taking the one before it", error.what()));
    }
  }
  return std::nullopt;  // not reached
}

std::int64_t ExamplesOf(const ResumedRun& run) { return TrainedRows(run.checkpoint, run.folder); }

std::string ResumeLine(const ResumedRun& run, std::int64_t train_rows) {
  return fmt::format("resumed   {} at epoch {:.3f}", run.folder,
                     static_cast<double>(ExamplesOf(run)) / static_cast<double>(train_rows));
}

TrainingSpec ResumedSpec(const TrainOptions& options, const ResumedRun& run) {
  TrainingSpec spec = SpecFromJson(run.checkpoint.texts.options, run.folder);
  for (const std::string& name : options.given) {
    const std::string asked = OptionText(options.spec, name);
    if (asked.empty()) continue;  // no option of the training
    const std::string had = OptionText(spec, name);
    if (std::ranges::find(kMayChange, name) != kMayChange.end()) {
      SetOption(spec, name, asked);
    } else if (asked != had) {
      throw UserError(fmt::format(
          "--{} {}: the run in {} has {}, and a resumed run keeps it; only --{} may change", name,
          asked, run.folder, had.empty() ? "none" : had, fmt::join(kMayChange, ", --")));
    }
  }
  if (!options.spec.data.empty()) spec.data = options.spec.data;  // its rows are compared later
  return spec;
}

}  // namespace hogbatch
