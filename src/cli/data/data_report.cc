#include "cli/data/data_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "core/guard/json_text.h"
#include "core/text.h"
#include "datasets/data_facts.h"

namespace hogbatch {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kShownClasses = 20;
constexpr std::size_t kShownColumns = 200;

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

std::string ColumnsText(const TrainingData& training) {
  const std::size_t shown = std::min(training.columns.size(), kShownColumns);
  std::size_t width = 4;
  for (std::size_t i = 0; i < shown; ++i) {
    width = std::max(width, ColumnName(training.schema, i).size());
  }
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    const TableColumn& column = training.schema.table[i];
    const ColumnFacts& facts = training.columns[i];
    text += fmt::format("  {:{}}  {:13}  {}", ColumnName(training.schema, i), width,
                        KindText(column), ContentText(column, facts));
    if (facts.missing > 0) text += fmt::format(", {} missing", Grouped(facts.missing));
    text += '\n';
  }
  if (shown < training.columns.size()) {
    text += fmt::format("  ... and {} more; --json has all\n",
                        Grouped(std::ssize(training.columns) - static_cast<std::int64_t>(shown)));
  }
  return text;
}

std::string LabelsText(const TrainingData& training) {
  const LabelFacts facts = FactsOfLabels(training);
  const std::string name =
      training.schema.label_name.empty() ? "" : fmt::format("{}: ", training.schema.label_name);
  if (training.schema.label_kind == LabelKind::kValue) {
    return fmt::format("label     {}numbers from {:.6g} to {:.6g}, mean {:.6g}\n", name, facts.min,
                       facts.max, facts.mean);
  }
  const bool is_class = training.schema.label_kind == LabelKind::kClass;
  std::string text = fmt::format("label     {}{} {}\n", name, Grouped(std::ssize(facts.classes)),
                                 is_class ? "classes" : "labels, several per row");
  const std::size_t shown = std::min(facts.classes.size(), kShownClasses);
  for (const auto& [label, rows] : std::span(facts.classes).first(shown)) {
    text +=
        fmt::format("  {:20} {:>12}  {:5.1f} %\n", label, Grouped(rows),
                    100.0 * static_cast<double>(rows) / static_cast<double>(training.data.rows));
  }
  if (shown < facts.classes.size()) {
    text += fmt::format("  ... and {} more; --json has all\n",
                        Grouped(std::ssize(facts.classes) - static_cast<std::int64_t>(shown)));
  }
  return text;
}

}  // namespace

std::string DataText(const TrainingData& training) {
  const Dataset& data = training.data;
  std::string text = fmt::format("file      {}\nformat    {}\nrows      {}\n", data.source,
                                 training.detected, Grouped(data.rows));
  text += LabelsText(training);
  if (!training.columns.empty()) {
    text += fmt::format("columns   {}, which become {} of a network\n",
                        Grouped(std::ssize(training.columns)),
                        Plural(data.features, "input", "inputs"));
    text += ColumnsText(training);
  } else {
    text += fmt::format("features  {}", Grouped(data.features));
    const double share = NonzeroShare(data);
    if (share < 1) text += fmt::format(", of which {:.3g} % are not 0", 100 * share);
    text += '\n';
  }
  for (const std::string& note : data.notes) text += note + "\n";
  return text;
}

std::string DataJson(const TrainingData& training) {
  const Dataset& data = training.data;
  const LabelFacts labels = FactsOfLabels(training);
  Json json = {{"file", data.source},
               {"format", training.detected},
               {"rows", data.rows},
               {"features", data.features},
               {"nonzero_share", NonzeroShare(data)},
               {"label", training.schema.label_name},
               {"label_kind", Name(training.schema.label_kind)}};
  if (training.schema.label_kind == LabelKind::kValue) {
    json["label_min"] = labels.min;
    json["label_mean"] = labels.mean;
    json["label_max"] = labels.max;
  } else {
    for (const auto& [label, rows] : labels.classes) json["classes"][label] = rows;
  }
  for (std::size_t i = 0; i < training.columns.size(); ++i) {
    const TableColumn& column = training.schema.table[i];
    const ColumnFacts& facts = training.columns[i];
    Json one = {{"name", ColumnName(training.schema, i)},
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
  json["notes"] = data.notes;
  return JsonText(json, 2) + "\n";
}

}  // namespace hogbatch
