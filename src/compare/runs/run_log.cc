#include "compare/runs/run_log.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>

#include "compare/runs/record_json.h"
#include "core/error.h"
#include "core/guard/format_version.h"
#include "core/guard/json_text.h"
#include "core/guard/small_file.h"
#include "core/text.h"

namespace hogbatch::compare {
namespace {

constexpr char kRecord[] = "/compare.json";

// Names of files stand for their content here.
std::string FileIdentity(const std::string& path) {
  struct stat facts{};
  if (::stat(path.c_str(), &facts) != 0) return "missing";
  return fmt::format("{} bytes of {}", static_cast<std::int64_t>(facts.st_size),
                     static_cast<std::int64_t>(facts.st_mtime));
}

void CheckIdentity(const std::string& folder, const Json& options, const OptionTexts& identity) {
  for (const auto& [name, now] : identity) {
    const std::string then = options.value(name, "");
    if (then == now) continue;
    const auto shown = [](const std::string& text) { return text.empty() ? "not given" : text; };
    throw UserError(fmt::format(
        "{} holds another comparison: {} was {} and is now {}; choose another --out, or the same "
        "options to go on with that one",
        folder, name, shown(then), shown(now)));
  }
}

}  // namespace

const RunRecord* RunLog::Find(const RunPlan& plan) const {
  const std::string key = plan.key();
  const auto found = std::ranges::find_if(
      records_, [&](const RunRecord& record) { return record.plan.key() == key; });
  return found == records_.end() ? nullptr : &*found;
}

std::vector<const RunRecord*> RunLog::Of(Phase phase) const {
  std::vector<const RunRecord*> found;
  for (const RunRecord& record : records_) {
    if (record.plan.phase == phase) found.push_back(&record);
  }
  return found;
}

std::vector<const RunRecord*> RunLog::Of(Phase phase, const std::string& side) const {
  std::vector<const RunRecord*> found = Of(phase);
  std::erase_if(found, [&](const RunRecord* record) { return record->plan.side != side; });
  return found;
}

double RunLog::wall_seconds() const {
  double sum = 0;
  for (const RunRecord& record : records_) sum += record.wall_seconds;
  return sum;
}

double RunLog::wall_seconds(Phase phase) const {
  double sum = 0;
  for (const RunRecord* record : Of(phase)) sum += record->wall_seconds;
  return sum;
}

OptionTexts IdentityOf(OptionTexts options, const std::vector<std::string>& files) {
  std::erase_if(options, [](const auto& option) { return option.first == "out"; });
  for (auto& [name, text] : options) name.insert(0, "--");
  for (const std::string& several : files) {
    for (const std::string& file : SplitLines(several)) {
      options.emplace_back(file, FileIdentity(file));
    }
  }
  return options;
}

RunLog LoadRuns(const std::string& folder, const OptionTexts& identity) {
  const std::string path = folder + kRecord;
  if (!std::filesystem::exists(path)) return {};
  constexpr std::size_t kMostRecord = std::size_t{256} << 20;
  return ParseRuns(ReadSmallFile(path, kMostRecord).value_or(""), folder, identity);
}

RunLog ParseRuns(std::string_view text, const std::string& folder, const OptionTexts& identity) {
  const std::string path = folder + kRecord;
  const auto json = ParseJson<Json>(text);
  const std::string advice = "; move it away, or choose another --out";
  const std::string damaged = fmt::format("{} is damaged{}", path, advice);
  const bool has_all = json.is_object() && json.contains("options") && json.contains("runs");
  if (!has_all || !json["runs"].is_array()) {
    throw UserError(fmt::format("{} is not the record of a comparison{}", path, advice));
  }
  try {
    const auto format = json.at("format").get<std::int64_t>();
    if (format < 1) throw UserError(damaged);
    RefuseNewerFormat(path, format, kCompareFormat);
    CheckIdentity(folder, json["options"], identity);
  } catch (const Json::exception&) {
    throw UserError(damaged);
  }
  try {
    std::vector<RunRecord> records;
    for (const Json& run : json["runs"]) records.push_back(RecordFrom(run));
    return RunLog(std::move(records));
  } catch (const std::exception&) {  // a wrong type, or a word that is none
    throw UserError(damaged);
  }
}

}  // namespace hogbatch::compare
