#include "cli/sweep/sweep_files.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <utility>

#include "core/error.h"
#include "core/guard/small_file.h"
#include "core/option_checks.h"
#include "training/checkpoint/kept_paths.h"
#include "training/checkpoint/resumed_options.h"

namespace hogbatch {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;
// How long a sweep lasts and what it runs on. Another network or other lists would be another
// sweep.
constexpr std::array<std::string_view, 4> kMayChange = {"max-time", "devices", "memory-limit",
                                                        "no-cache"};

std::string PathOf(const std::string& folder) { return folder + "/sweep.json"; }

// The options of the training and those of the search.
OptionTexts Joined(OptionTexts training, const OptionTexts& search) {
  training.insert(training.end(), search.begin(), search.end());
  return training;
}

// As the file has them. UserError, which names the file, for what is out of range.
void SetAll(SweepCommandOptions& options, const SweepRecord& record) {
  options.training = SweptOptions();
  options.search = SearchOptions();
  try {
    for (const auto& [name, text] : record.options) options.training.Set(name, text);
    for (const auto& [name, text] : record.search) {
      SetOption([&](OptionVisitor& all) { options.search.Visit(all); }, name, text);
    }
  } catch (const UserError& error) {
    throw UserError(
        fmt::format("{} is damaged: {}; begin a new sweep", PathOf(options.resume), error.what()));
  }
}

}  // namespace

bool HoldsSweep(const std::string& folder) {
  std::error_code error;
  return std::filesystem::exists(PathOf(folder), error);
}

std::optional<FileTime> SweepTime(const std::string& folder) {
  return HoldsSweep(folder) ? std::optional(TimeOf(PathOf(folder))) : std::nullopt;
}

void RefuseSweep(const std::string& folder) {
  if (!HoldsSweep(folder)) return;
  throw UserError(
      fmt::format("--out {0}: the folder holds a sweep; name another folder, or go on with it: "
                  "hogbatch sweep --resume {0}",
                  folder));
}

SweepRecord ReadSweep(const std::string& folder) {
  const auto text = ReadSmallFile(PathOf(folder), kMostBytes);
  if (text) return ParseSweep(*text, PathOf(folder));
  throw UserError(
      fmt::format("--resume {}: there is no sweep.json; name the folder of a sweep", folder));
}

SweepCommandOptions ResumedOptions(const SweepCommandOptions& asked, const SweepRecord& record) {
  SweepCommandOptions options = asked;
  SetAll(options, record);
  const ResumedKind kind{
      .name = "sweep", .folder = asked.resume, .may_change = kMayChange, .advice = "leave it out"};
  const OptionTexts changes =
      TakeChanges(asked.given, Joined(record.options, record.search),
                  Joined(asked.training.Texts(), SearchTexts(asked.search)), kind);
  for (const auto& [name, text] : changes) options.training.Set(name, text);
  // Its rows are compared later.
  if (!asked.training.data().empty()) options.training.data() = asked.training.data();
  RefuseLostNames(options.training.Spec(options.search).base, "sweep", asked.resume);
  return options;
}

void RefuseOtherRows(const std::string& folder, const SweepRecord& record,
                     const std::string& rows) {
  if (IsSameData(record.rows, rows)) return;
  throw UserError(
      fmt::format("the data has changed since the sweep in {} began: it had {}, and has {}; begin "
                  "a new sweep",
                  folder, record.rows, rows));
}

EarlierSweep ReadResults(const std::string& folder, const SweepRecord& record,
                         std::span<const Trial> trials, std::size_t rungs) {
  const std::string path = folder + "/trials.jsonl";
  const auto text = ReadSmallFile(path, kMostBytes);
  if (!text) throw UserError(fmt::format("{}: cannot be read; begin a new sweep", path));
  if (record.best.trial.value_or(0) >= trials.size()) {
    throw UserError(fmt::format("{} is damaged: it has no trial {}; begin a new sweep",
                                PathOf(folder), *record.best.trial + 1));
  }
  return {.results = ParseTrialsJsonl(*text, trials, rungs, path), .best = record.best};
}

OptionTexts SearchTexts(SearchOptions search) {
  return TextsOf([&](OptionVisitor& all) { search.Visit(all); });
}

}  // namespace hogbatch
