#include "cli/sweep/sweep_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "core/error.h"
#include "core/guard/small_file.h"
#include "core/replaced_file.h"

namespace hogbatch {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;
// How long a sweep lasts and what it runs on. Another network or other lists would be another
// sweep.
constexpr std::array<std::string_view, 4> kMayChange = {"max-time", "devices", "memory-limit",
                                                        "no-cache"};

std::string PathOf(const std::string& folder) { return folder + "/sweep.json"; }

std::string TextAt(const OptionTexts& texts, const std::string& name) {
  const auto found = std::ranges::find(texts, name, &OptionTexts::value_type::first);
  return found == texts.end() ? "" : found->second;
}

void SetSearch(SearchOptions& search, const OptionTexts& texts) {
  search.search = TextAt(texts, "search");
  search.trials = std::stoll(TextAt(texts, "trials"));
  search.search_seed = std::stoll(TextAt(texts, "search-seed"));
  search.eta = std::stod(TextAt(texts, "eta"));
  search.min_epochs = std::stod(TextAt(texts, "min-epochs"));
  const auto number = [&](const char* name) {  // which older sweeps lack
    const std::string text = TextAt(texts, name);
    return text.empty() ? 0 : std::stoll(text);
  };
  search.ensemble = number("ensemble");
  search.folds = number("folds");
}

}  // namespace

bool HoldsSweep(const std::string& folder) {
  std::error_code error;
  return std::filesystem::exists(PathOf(folder), error);
}

std::string LatestSweep() {
  std::error_code error;
  std::string latest;
  for (const auto& entry : std::filesystem::directory_iterator("runs", error)) {
    if (HoldsSweep(entry.path())) latest = std::max(latest, entry.path().string());
  }
  return latest;
}

void RefuseOtherSweep(const std::string& folder) {
  if (!HoldsSweep(folder)) return;
  throw UserError(fmt::format(
      "--out {0}: the folder holds another sweep; name another folder, or go on with that one: "
      "--resume {0}",
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
  options.training = SweptOptions();
  for (const auto& [name, text] : record.options) options.training.Set(name, text);
  SetSearch(options.search, record.search);
  const OptionTexts given = asked.training.Texts();
  const OptionTexts search = SearchTexts(asked.search);
  for (const std::string& name : asked.given) {
    std::string wanted = TextAt(given, name), had = TextAt(record.options, name);
    if (wanted.empty()) wanted = TextAt(search, name), had = TextAt(record.search, name);
    if (wanted.empty() || wanted == had) continue;  // no option of the training
    if (std::ranges::find(kMayChange, name) == kMayChange.end()) {
      throw UserError(fmt::format(
          "--{} {}: the sweep in {} has {}, and a resumed sweep keeps it; leave out --{}", name,
          wanted, asked.resume, had.empty() ? "none" : had, name));
    }
    options.training.Set(name, wanted);
  }
  // Its rows are compared later.
  if (!asked.training.data().empty()) options.training.data() = asked.training.data();
  return options;
}

EarlierSweep ReadResults(const std::string& folder, const SweepRecord& record,
                         std::span<const Trial> trials) {
  const std::string path = folder + "/trials.jsonl";
  const auto text = ReadSmallFile(path, kMostBytes);
  if (!text) throw UserError(fmt::format("{}: cannot be read; begin a new sweep", path));
  return {.results = ParseTrialsJsonl(*text, trials, path), .best_loss = record.best_loss};
}

OptionTexts SearchTexts(SearchOptions search) {
  return TextsOf([&](OptionVisitor& all) { search.Visit(all); });
}

void WriteSweep(const std::string& folder, const SweepRecord& record, const SweepResults& results) {
  ReplaceFile(folder + "/trials.jsonl", TrialsJsonl(results));
  ReplaceFile(PathOf(folder), SweepText(record));
}

}  // namespace hogbatch
