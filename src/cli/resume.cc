#include "cli/resume.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/files.h"
#include "cli/sweep/sweep_files.h"
#include "core/error.h"
#include "core/guard/json_text.h"
#include "core/guard/small_file.h"
#include "report/record_format.h"
#include "training/job_parts.h"

namespace hogbatch {
namespace {

// When the newest checkpoint of a run was written.
std::optional<FileTime> CheckpointTime(const std::string& folder) {
  const std::vector<std::string> found = ListCheckpoints(folder);
  return found.empty() ? std::nullopt : std::optional(TimeOf(found.front()));
}

std::string FolderOf(const TrainOptions& options, Console& console) {
  if (options.resume != "auto") return options.resume;
  if (!options.out.empty()) return options.out;
  return LatestFolder([&](const std::string& folder) -> std::optional<FileTime> {
    try {
      return CheckpointTime(folder);
    } catch (const UserError& error) {
      console.Warn(fmt::format("{}; {} is passed over", error.what(), folder));
      return std::nullopt;
    }
  });
}

}  // namespace

std::string FindRun(const TrainOptions& options, Console& console) {
  if (options.resume.empty()) return "";
  if (options.resume != "auto" && !options.out.empty()) {
    throw UserError("--out: a resumed run goes on in its own folder; leave out --out or --resume");
  }
  std::string folder = FolderOf(options, console);
  if (!folder.empty() && CheckpointTime(folder)) return folder;
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
  try {
    std::optional<Checkpoint> newest =
        NewestCheckpoint(folder, [&](std::string_view why) { console.Warn(why); });
    if (!newest) throw UserError(fmt::format("{} holds no checkpoint any more", folder));
    return {.folder = folder, .checkpoint = std::move(*newest)};
  } catch (const UserError& error) {
    throw UserError(fmt::format("{}; to begin anew, name another folder with --out", error.what()));
  }
}

bool HadFlag(const ResumedRun& run, const char* name) {
  const auto text = ReadSmallFile(run.folder + "/" + report::kOptionsFile, std::size_t{16} << 20);
  const auto json = ParseJson<nlohmann::json>(text.value_or(""));
  const auto found = json.find(name);
  return found != json.end() && *found == true;
}

std::int64_t ExamplesOf(const ResumedRun& run) { return TrainedRows(run.checkpoint, run.folder); }

std::string ResumeLine(const ResumedRun& run, std::int64_t train_rows) {
  return fmt::format("resumed   {} at epoch {:.3f}", run.folder,
                     static_cast<double>(ExamplesOf(run)) / static_cast<double>(train_rows));
}

}  // namespace hogbatch
