#include "report/run_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "core/error.h"
#include "core/guard/format_version.h"
#include "core/guard/json_text.h"
#include "core/guard/small_file.h"
#include "core/text.h"
#include "report/line_reader.h"
#include "report/record_format.h"

namespace hogbatch::report {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr std::uintmax_t kMostFileBytes = 16 << 20;  // of one of them
constexpr std::size_t kMostRunNames = 1000;          // of workers and measures of a run
constexpr std::size_t kMostRows = 20000;             // more than any screen shows
constexpr std::size_t kMostNumbers = 4000000;        // rows times names

// The names in the record of a run: those that came first.
class Names {
 public:
  // Whether it is one of them.
  bool Keep(const std::string& name) {
    if (names_.contains(name)) return true;
    if (names_.size() == kMostRunNames) {
      left_some_out_ = true;
      return false;
    }
    return names_.insert(name).second;
  }
  std::size_t size() const { return names_.size(); }
  bool left_some_out() const { return left_some_out_; }

 private:
  std::set<std::string> names_;
  bool left_some_out_ = false;
};

double NumberAt(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : kNone;
}

std::string TextAt(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

Numbers NumbersAt(const Json& object, const char* key, Names& names) {
  Numbers numbers;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_object()) return numbers;
  for (const auto& [name, value] : found->items()) {
    if (value.is_number() && names.Keep(name)) numbers[name] = value.get<double>();
  }
  return numbers;
}

// "valid_loss" and the like.
Numbers MeasuredIn(const Json& object, Names& names) {
  Numbers measured;
  for (const auto& [key, value] : object.items()) {
    const bool of_split =
        key.starts_with("train_") || key.starts_with("valid_") || key.starts_with("test_");
    if (of_split && key != "train_seconds" && value.is_number() && names.Keep(key)) {
      measured[key] = value.get<double>();
    }
  }
  return measured;
}

// A value of a configuration as a reader expects it.
std::string Shown(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number_integer()) return fmt::format("{}", value.get<std::int64_t>());
  if (value.is_number()) return fmt::format("{:g}", value.get<double>());
  if (!value.is_array()) return JsonText(value);
  std::string text;
  for (const Json& element : value) text += (text.empty() ? "" : ", ") + Shown(element);
  return text;
}

Facts FactsIn(const Json& object) {
  Facts facts;
  for (const auto& [key, value] : object.items()) facts.emplace_back(key, Shown(value));
  return facts;
}

// Those below a key, with names and numbers for readers: "memory_bytes" becomes "memory", in GB.
Facts FactsAt(const Json& object, const char* key) {
  constexpr std::string_view kBytes = "_bytes";
  const auto found = object.find(key);
  if (found == object.end() || !found->is_object()) return {};
  Facts facts;
  for (const auto& [given, value] : found->items()) {
    std::string name = given;
    std::string text =
        value.is_number_integer() ? Grouped(value.get<std::int64_t>()) : Shown(value);
    if (name.ends_with(kBytes) && value.is_number()) {
      name.erase(name.size() - kBytes.size());
      const double bytes = value.get<double>();
      text = bytes < 1e9 ? fmt::format("{:.3g} MB", bytes / 1e6)
                         : fmt::format("{:.3g} GB", bytes / 1e9);
    }
    std::ranges::replace(name, '_', ' ');
    facts.emplace_back(std::move(name), std::move(text));
  }
  return facts;
}

MetricsRow MakeRow(const Json& line, Names& names) {
  return {.seconds = NumberAt(line, "seconds"),
          .train_seconds = NumberAt(line, "train_seconds"),
          .epoch = NumberAt(line, "epoch"),
          .examples = NumberAt(line, "examples"),
          .running_loss = NumberAt(line, "running_loss"),
          .measured = MeasuredIn(line, names),
          .batch_size = NumbersAt(line, "batch_rows_by_worker", names),
          .busy = NumbersAt(line, "busy_fraction_by_worker", names)};
}

Totals MakeTotals(const Json& object, Names& names) {
  Totals totals{.seconds = NumberAt(object, "seconds"),
                .train_seconds = NumberAt(object, "train_seconds"),
                .epoch = NumberAt(object, "epoch"),
                .examples = NumberAt(object, "examples"),
                .updates = NumberAt(object, "updates"),
                .examples_per_second = NumberAt(object, "examples_per_second"),
                .best_epoch = NumberAt(object, "best_epoch"),
                .beta = NumberAt(object, "beta"),
                .stopped_because = TextAt(object, "stopped_because"),
                .measured = MeasuredIn(object, names),
                .updates_by_worker = NumbersAt(object, "updates_by_worker", names),
                .share_by_team = NumbersAt(object, "update_share_by_team", names),
                .merges_by_staleness = NumbersAt(object, "staleness", names),
                .busy = NumbersAt(object, "busy_fraction_by_worker", names)};
  if (const auto found = object.find("failures_by_worker");
      found != object.end() && found->is_object()) {
    for (const auto& [worker, what] : found->items()) {
      if (names.Keep(worker)) totals.failures[worker] = Shown(what);
    }
  }
  return totals;
}

// The lines of a record, as they come.
class MetricsReader {
 public:
  explicit MetricsReader(Names& names) : names_(names) {}

  // False if the line is not a record.
  bool Add(std::string_view text) {
    auto line = ParseJson<Json>(text);
    if (!line.is_object() || !line.contains("seconds")) return false;
    MetricsRow row = MakeRow(line, names_);
    if (!std::isfinite(row.seconds)) return false;
    if (row.measured.empty()) {
      last_ = std::move(line);
      if (++plain_ % stride_ != 0) return true;
    } else {
      measured_ = row.measured;
      if (last_.is_null()) last_ = std::move(line);
    }
    rows_.push_back(std::move(row));
    if (rows_.size() >= MostRows()) Thin();
    return true;
  }

  std::vector<MetricsRow> Rows() && {
    std::ranges::stable_sort(rows_, {}, &MetricsRow::seconds);
    return std::move(rows_);
  }
  // Where the run stands after the last line.
  Totals Latest() {
    Totals totals = MakeTotals(last_.is_object() ? last_ : Json::object(), names_);
    totals.measured = measured_;
    if (totals.train_seconds > 0) {
      totals.examples_per_second = totals.examples / totals.train_seconds;
    }
    return totals;
  }

 private:
  std::size_t MostRows() const {
    return std::min(kMostRows, kMostNumbers / std::max<std::size_t>(names_.size(), 1));
  }

  // Evaluations are kept as long as there are others to drop.
  void Thin() {
    std::size_t kept = 0;
    stride_ *= 2;
    const std::size_t before = rows_.size();
    std::size_t place = 0;
    std::erase_if(rows_,
                  [&](const MetricsRow& row) { return row.measured.empty() && ++place % 2 == 0; });
    if (rows_.size() < before * 3 / 4) return;
    std::erase_if(rows_, [&](const MetricsRow&) { return ++kept % 2 == 0; });
  }

  Names& names_;
  std::vector<MetricsRow> rows_;
  Numbers measured_;
  Json last_;
  std::size_t plain_ = 0;
  std::size_t stride_ = 1;
};

void ReadMetrics(const std::string& folder, Names& names, RunRecord& record) {
  const std::string path = folder + "/" + kMetricsFile;
  std::error_code error;
  if (!fs::is_regular_file(path, error)) {
    record.problems.push_back("metrics.jsonl is missing, so there are no curves");
    return;
  }
  LineReader lines(path);
  MetricsReader reader(names);
  std::int64_t damaged = 0, first_damaged = 0;
  while (const std::optional<TextLine> line = lines.Next()) {
    if (line->text.empty() && !line->too_long) continue;
    if (!line->too_long && reader.Add(line->text)) continue;
    if (!line->ended && !line->too_long) {
      record.problems.push_back(
          "the last line of metrics.jsonl is incomplete and was left out: the run is still going "
          "on, or was cut off");
      continue;
    }
    if (damaged++ == 0) first_damaged = lines.number();
  }
  if (damaged > 0) {
    record.problems.push_back(
        fmt::format("{} of {} lines of metrics.jsonl {} left out, the first of them line {}",
                    Grouped(damaged), Grouped(lines.number()),
                    damaged == 1 ? "is not a record and was" : "are not records and were",
                    Grouped(first_damaged)));
  }
  record.totals = reader.Latest();
  record.metrics = std::move(reader).Rows();
  if (record.metrics.empty() && damaged == 0) {
    record.problems.push_back("metrics.jsonl has no line yet, so there are no curves");
  }
}

// Nothing if the file is not there or damaged, which `problems` says.
std::optional<Json> ReadObject(const std::string& folder, const std::string& file,
                               std::string_view without, RunRecord& record) {
  const std::string path = folder + "/" + file;
  std::error_code error;
  const auto tell = [&](std::string_view what) {
    record.problems.push_back(fmt::format("{} {}{}", file, what, without));
    return std::nullopt;
  };
  if (!fs::is_regular_file(path, error)) return tell("is missing");
  if (fs::file_size(path, error) > kMostFileBytes) return tell("is too large to be hogbatch's");
  const std::optional<std::string> text = ReadSmallFile(path, kMostFileBytes);
  if (!text) return tell("cannot be read");
  auto object = ParseJson<Json>(*text);
  if (!object.is_object()) return tell("is damaged");
  for (const char* key : {"format", "options_format"}) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_number_integer()) continue;
    if (const auto format = found->get<std::int64_t>(); format > kRecordFormat) {
      record.problems.push_back(NewerFormatText(file, format, kRecordFormat) +
                                "; some of it may be missing here");
    }
  }
  return object;
}

void TakeFacts(const Json& object, RunRecord& record) {
  for (auto [key, facts] :
       {std::pair{"machine", &record.machine}, std::pair{"dataset", &record.data},
        std::pair{"network", &record.network}}) {
    if (facts->empty()) *facts = FactsAt(object, key);
  }
}

void ReadOptions(const std::string& folder, RunRecord& record) {
  std::optional<Json> options =
      ReadObject(folder, kOptionsFile, ", so there is no configuration", record);
  if (!options) return;
  TakeFacts(*options, record);
  // What is shown elsewhere, and what does not change a training.
  for (const char* key : {"machine", "dataset", "network", "options_format", "out", "quiet", "json",
                          "report", "trace", "tensorboard"}) {
    options->erase(key);
  }
  record.options = FactsIn(*options);
}

void ReadSummary(const std::string& folder, Names& names, RunRecord& record) {
  std::optional<Json> summary = ReadObject(
      folder, kSummaryFile, ": the run is still going on, or did not come to its end", record);
  if (!summary) return;
  record.totals = MakeTotals(*summary, names);
  TakeFacts(*summary, record);
}

}  // namespace

bool NaturalOrder::operator()(const std::string& a, const std::string& b) const {
  const auto split = [](std::string_view text) {
    const std::size_t digits = text.find_last_not_of("0123456789") + 1;
    std::uint64_t number = 0;
    ReadAll(text.substr(digits), number);
    return std::tuple(text.substr(0, digits), number, text);
  };
  return split(a) < split(b);
}

double ValueOf(const Numbers& numbers, const std::string& key) {
  const auto found = numbers.find(key);
  return found == numbers.end() ? kNone : found->second;
}

std::vector<const MetricsRow*> Reports(const RunRecord& run) {
  std::vector<double> gaps;
  double before = 0;
  for (const MetricsRow& row : run.metrics) {
    if (row.seconds > before) gaps.push_back(row.seconds - before);
    before = row.seconds;
  }
  std::ranges::sort(gaps);
  const double least = gaps.empty() ? 0 : 0.6 * gaps[gaps.size() / 2];
  std::vector<const MetricsRow*> reports;
  double last = 0;
  for (const MetricsRow& row : run.metrics) {
    if (row.seconds < last + least || row.seconds <= 0) continue;
    last = row.seconds;
    reports.push_back(&row);
  }
  return reports;
}

RunRecord ReadRun(std::string_view name, const std::string& folder) {
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (!fs::exists(status)) throw UserError(fmt::format("{}: there is no such folder", folder));
  if (!fs::is_directory(status)) {
    throw UserError(fmt::format("{} is a file; name the folder of a run", folder));
  }
  const auto has = [&](const char* file) { return fs::exists(folder + "/" + file, error); };
  if (!has(kMetricsFile) && !has(kSummaryFile)) {
    throw UserError(
        fmt::format("{} is {}; 'hogbatch train --out DIR' makes the folder of a run", folder,
                    fs::is_empty(folder, error) ? "an empty folder"
                                                : "not the folder of a run: it has neither "
                                                  "metrics.jsonl nor summary.json"));
  }
  Names names;
  RunRecord record{
      .name = std::string(name), .folder = folder, .totals = MakeTotals(Json::object(), names)};
  ReadMetrics(folder, names, record);
  ReadSummary(folder, names, record);
  ReadOptions(folder, record);
  if (names.left_some_out()) {
    record.problems.push_back(
        fmt::format("it names more than {} workers and measures, of which the first were taken and "
                    "all others left out",
                    Grouped(kMostRunNames)));
  }
  return record;
}

}  // namespace hogbatch::report
