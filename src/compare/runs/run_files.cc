#include "compare/runs/run_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "core/guard/json_text.h"
#include "core/guard/small_file.h"
#include "core/text.h"
#include "report/record_format.h"

namespace hogbatch::compare {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostBytes = std::size_t{64} << 20;  // of a file of a run
constexpr double kMostPeak = 1e18;                         // bytes of memory

std::optional<double> NumberAt(const Json& object, const std::string& key) {
  const auto value = object.find(key);
  if (value == object.end() || !value->is_number()) return std::nullopt;
  return value->get<double>();
}

// "test_accuracy": the first metric of the split in a line.
std::string MetricKey(const Json& line, std::string_view split) {
  for (const auto& [key, value] : line.items()) {
    if (key.starts_with(split) && !key.ends_with("_loss") && value.is_number()) return key;
  }
  return "";
}

// Python writes NaN and Infinity, which are not JSON: here they are null.
Json ParseLoosely(std::string_view text) {
  constexpr std::string_view kWords[] = {"-Infinity", "Infinity", "NaN"};
  std::string strict;
  strict.reserve(text.size());
  while (!text.empty()) {
    const std::size_t plain = std::min(text.find_first_of("-IN"), text.size());
    strict += text.substr(0, plain);
    text.remove_prefix(plain);
    const auto* const found =
        std::ranges::find_if(kWords, [&](std::string_view word) { return text.starts_with(word); });
    const bool is_word = found != std::end(kWords);
    strict += is_word ? "null" : text.substr(0, 1);
    text.remove_prefix(is_word ? found->size() : std::min<std::size_t>(1, text.size()));
  }
  return ParseJson<Json>(strict);
}

std::vector<Json> ParseLines(std::string_view all) {
  std::vector<Json> lines;
  for (const std::string& text : SplitLines(all)) {
    Json line = ParseLoosely(text);
    if (line.is_object()) lines.push_back(std::move(line));
  }
  return lines;
}

// The speed while all workers trained, as far as reports show any such time. hogbatch evaluates
// beside training; then fewer workers train, and their time is only estimated.
std::optional<double> UndisturbedRate(const std::vector<Json>& lines, double train_seconds) {
  constexpr double kUndisturbed = 0.99;  // share of the time that went into training
  struct Count {
    double seconds, train_seconds, examples;
  };
  std::vector<Count> counts;
  for (const Json& line : lines) {
    const auto seconds = NumberAt(line, "seconds");
    const auto train = NumberAt(line, "train_seconds");
    const auto examples = NumberAt(line, "examples");
    if (seconds && train && examples) counts.push_back({*seconds, *train, *examples});
  }
  std::ranges::sort(counts, {}, &Count::seconds);
  double time = 0;
  double rows = 0;
  for (std::size_t i = 1; i < counts.size(); ++i) {
    const double all = counts[i].seconds - counts[i - 1].seconds;
    const double train = counts[i].train_seconds - counts[i - 1].train_seconds;
    if (all <= 0 || train < kUndisturbed * all) continue;
    time += train;
    rows += counts[i].examples - counts[i - 1].examples;
  }
  const double rate = rows / time;
  if (!std::isfinite(rate) || time <= 0 || time < 0.25 * train_seconds) return std::nullopt;
  return rate;
}

std::vector<CurvePoint> CurveOf(const std::vector<Json>& lines, const std::string& loss_key,
                                const std::string& metric_key) {
  std::vector<CurvePoint> curve;
  for (const Json& line : lines) {
    const auto loss = NumberAt(line, loss_key);
    const auto seconds = NumberAt(line, "train_seconds");
    if (!loss || !seconds) continue;
    curve.push_back({.seconds = *seconds,
                     .epoch = NumberAt(line, "epoch").value_or(0),
                     .loss = *loss,
                     .metric = NumberAt(line, metric_key)});
  }
  std::ranges::stable_sort(curve, {}, &CurvePoint::seconds);
  return curve;
}

}  // namespace

RunFiles ReadRunFiles(const std::string& folder, const SplitRows& rows) {
  const auto text = [&](const char* name) {
    return ReadSmallFile(fmt::format("{}/{}", folder, name), kMostBytes).value_or("");
  };
  return ParseRunFiles(text(report::kMetricsFile), text(report::kSummaryFile), rows);
}

RunFiles ParseRunFiles(std::string_view metrics, std::string_view summary_text,
                       const SplitRows& rows) {
  RunFiles files;
  const std::vector<Json> lines = ParseLines(metrics);
  const std::string loss_key = rows.valid_rows > 0 ? "valid_loss" : "train_loss";
  const std::string split = rows.test_rows > 0 ? "test_" : "valid_";
  for (const Json& line : lines) {
    if (files.metric.empty()) files.metric = MetricKey(line, split);
    files.seconds = std::max(files.seconds, NumberAt(line, "seconds").value_or(0));
  }
  files.curve = CurveOf(lines, loss_key, files.metric);
  const Json summary = ParseLoosely(summary_text);
  if (!summary.is_object()) return files;
  files.has_summary = true;
  if (const auto why = summary.find("stopped_because"); why != summary.end() && why->is_string()) {
    files.stopped_because = why->get<std::string>();
  }
  files.seconds = std::max(files.seconds, NumberAt(summary, "seconds").value_or(0));
  files.train_seconds = NumberAt(summary, "train_seconds").value_or(0);
  files.examples_per_second = UndisturbedRate(lines, files.train_seconds)
                                  .value_or(NumberAt(summary, "examples_per_second").value_or(0));
  files.cpu_seconds = NumberAt(summary, "cpu_seconds").value_or(0);
  files.peak_bytes = static_cast<std::int64_t>(
      std::clamp(NumberAt(summary, "peak_memory_bytes").value_or(0), 0.0, kMostPeak));
  const auto loss = summary.find(loss_key);
  files.finite = loss == summary.end() || loss->is_number();
  return files;
}

}  // namespace hogbatch::compare
