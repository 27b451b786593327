#include "cli/data/data_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>

#include "core/guard/json_text.h"
#include "core/text.h"

namespace hogbatch {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kShownClasses = 20;
constexpr std::size_t kShownColumns = 200;

void CountClasses(const TrainingData& data, DataReport& report) {
  std::vector<std::int64_t> counts(data.schema.label_names.size(), 0);
  for (const std::int32_t label : data.data.classes) ++counts[label];
  for (const std::int32_t label : data.data.labels) ++counts[label];
  for (std::size_t i = 0; i < counts.size(); ++i) {
    report.classes.emplace_back(data.schema.label_names[i], counts[i]);
  }
  std::ranges::stable_sort(report.classes, std::greater<>(),
                           [](const auto& one) { return one.second; });
}

void MeasureTargets(const TrainingData& data, DataReport& report) {
  const auto number = [&](double x) {
    return x * data.schema.target_deviation + data.schema.target_mean;
  };
  const auto [least, most] = std::ranges::minmax(data.data.targets);
  report.least = number(least);
  report.most = number(most);
  report.mean = data.schema.target_mean;
}

std::string_view KindText(const TableColumn& column) {
  switch (column.kind) {
    case ColumnKind::kNumber:
      return "numbers";
    case ColumnKind::kCategory:
      return "words";
    case ColumnKind::kHashed:
      return "words, hashed";
    case ColumnKind::kDate:
      return "dates";
    case ColumnKind::kLeftOut:
      break;
  }
  return "left out";
}

std::string ContentText(const TableColumn& column, const ColumnFacts& facts) {
  if (column.kind == ColumnKind::kLeftOut) return column.reason;
  if (facts.words == 0 || column.kind == ColumnKind::kNumber) {
    return fmt::format("{:.6g} to {:.6g}", facts.min, facts.max);
  }
  if (column.kind == ColumnKind::kDate) {
    return fmt::format("{} to {}", facts.earliest, facts.latest);
  }
  std::vector<std::string> words;
  for (const auto& [word, rows] : facts.frequent) {
    words.push_back(fmt::format("{} ({})", word, Grouped(rows)));
  }
  const bool more = facts.different_words > std::ssize(facts.frequent);
  return fmt::format("{} different: {}{}", Grouped(facts.different_words), fmt::join(words, ", "),
                     more ? ", ..." : "");
}

std::string ColumnsText(const DataReport& report) {
  const std::size_t shown = std::min(report.columns.size(), kShownColumns);
  std::size_t width = 4;
  for (std::size_t i = 0; i < shown; ++i) {
    width = std::max(width, ColumnName(report.schema, i).size());
  }
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    const TableColumn& column = report.schema.table[i];
    const ColumnFacts& facts = report.columns[i];
    text += fmt::format("  {:{}}  {:13}  {}", ColumnName(report.schema, i), width, KindText(column),
                        ContentText(column, facts));
    if (facts.missing > 0) text += fmt::format(", {} missing", Grouped(facts.missing));
    text += '\n';
  }
  if (shown < report.columns.size()) {
    text += fmt::format("  ... and {} more; --json has all\n",
                        Grouped(std::ssize(report.columns) - static_cast<std::int64_t>(shown)));
  }
  return text;
}

std::string LabelsText(const DataReport& report) {
  const std::string name =
      report.schema.label_name.empty() ? "" : fmt::format("{}: ", report.schema.label_name);
  if (report.schema.label_kind == LabelKind::kValue) {
    return fmt::format("label     {}numbers from {:.6g} to {:.6g}, mean {:.6g}\n", name,
                       report.least, report.most, report.mean);
  }
  const bool is_class = report.schema.label_kind == LabelKind::kClass;
  std::string text = fmt::format("label     {}{} {}\n", name, Grouped(std::ssize(report.classes)),
                                 is_class ? "classes" : "labels, several per row");
  const std::size_t shown = std::min(report.classes.size(), kShownClasses);
  for (const auto& [label, rows] : std::span(report.classes).first(shown)) {
    text += fmt::format("  {:20} {:>12}  {:5.1f} %\n", label, Grouped(rows),
                        100.0 * static_cast<double>(rows) / static_cast<double>(report.rows));
  }
  if (shown < report.classes.size()) {
    text += fmt::format("  ... and {} more; --json has all\n",
                        Grouped(std::ssize(report.classes) - static_cast<std::int64_t>(shown)));
  }
  return text;
}

}  // namespace

DataReport MakeDataReport(const TrainingData& data) {
  DataReport report{.source = data.data.source,
                    .detected = data.detected,
                    .rows = data.data.rows,
                    .features = data.data.features,
                    .schema = data.schema,
                    .columns = data.columns,
                    .classes = {},
                    .notes = data.data.notes};
  if (data.data.is_sparse) {
    const double cells = static_cast<double>(report.rows) * static_cast<double>(report.features);
    report.stored_share = static_cast<double>(data.data.values.size()) / cells;
  }
  if (data.schema.label_kind == LabelKind::kValue) {
    MeasureTargets(data, report);
  } else {
    CountClasses(data, report);
  }
  return report;
}

std::string DataText(const DataReport& report) {
  std::string text = fmt::format("file      {}\nformat    {}\nrows      {}\n", report.source,
                                 report.detected, Grouped(report.rows));
  text += LabelsText(report);
  if (!report.columns.empty()) {
    text += fmt::format("columns   {}, which become {} of a network\n",
                        Grouped(std::ssize(report.columns)),
                        Plural(report.features, "input", "inputs"));
    text += ColumnsText(report);
  } else {
    text += fmt::format("features  {}", Grouped(report.features));
    if (report.stored_share < 1) {
      text += fmt::format(", of which {:.3g} % are not 0", 100 * report.stored_share);
    }
    text += '\n';
  }
  for (const std::string& note : report.notes) text += note + "\n";
  return text;
}

std::string DataJson(const DataReport& report) {
  Json json = {{"file", report.source},
               {"format", report.detected},
               {"rows", report.rows},
               {"features", report.features},
               {"nonzero_share", report.stored_share},
               {"label", report.schema.label_name},
               {"label_kind", Name(report.schema.label_kind)}};
  if (report.schema.label_kind == LabelKind::kValue) {
    json["label_min"] = report.least;
    json["label_mean"] = report.mean;
    json["label_max"] = report.most;
  } else {
    for (const auto& [label, rows] : report.classes) json["classes"][label] = rows;
  }
  for (std::size_t i = 0; i < report.columns.size(); ++i) {
    const TableColumn& column = report.schema.table[i];
    const ColumnFacts& facts = report.columns[i];
    Json one = {{"name", ColumnName(report.schema, i)},
                {"kind", Name(column.kind)},
                {"numbers", facts.numbers},
                {"words", facts.words},
                {"missing", facts.missing}};
    if (facts.numbers > 0 || column.kind == ColumnKind::kNumber) {
      one.update({{"min", facts.min}, {"max", facts.max}});
    }
    if (column.kind == ColumnKind::kDate) {
      one.update({{"earliest", facts.earliest}, {"latest", facts.latest}});
    }
    if (facts.words > 0) one["different_words"] = facts.different_words;
    for (const auto& [word, rows] : facts.frequent) one["frequent"][word] = rows;
    if (!column.reason.empty()) one["left_out_because"] = column.reason;
    json["columns"].push_back(std::move(one));
  }
  json["notes"] = report.notes;
  return JsonText(json, 2) + "\n";
}

}  // namespace hogbatch
