#include "cli/reports/eval_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "core/guard/json_text.h"

namespace hogbatch {
namespace {

constexpr std::int64_t kReadableClasses = 20;  // a wider table would wrap

nlohmann::ordered_json MatrixOf(const ConfusionMatrix& confusion) {
  auto matrix = nlohmann::ordered_json::array();  // actual × predicted
  for (std::int64_t actual = 0; actual < confusion.classes(); ++actual) {
    auto row = nlohmann::ordered_json::array();
    for (std::int64_t taken = 0; taken < confusion.classes(); ++taken) {
      row.push_back(confusion.count(actual, taken));
    }
    matrix.push_back(std::move(row));
  }
  return matrix;
}

// The range of losses and of metrics.
std::string MembersText(const EvalReport& report) {
  std::vector<double> losses, metrics;
  std::string name;
  for (const EvaluationSums& member : report.members) {
    losses.push_back(member.mean_loss());
    const Metric metric = MetricsOf(member, report.scale).front();
    name = metric.name;
    metrics.push_back(metric.value);
  }
  const auto [least_loss, most_loss] = std::ranges::minmax(losses);
  const auto [least, most] = std::ranges::minmax(metrics);
  return fmt::format("{:16}{}, each alone: loss {:.6g} to {:.6g}, {} {:.6g} to {:.6g}\n", "members",
                     report.members.size(), least_loss, most_loss, name, least, most);
}

}  // namespace

static std::string ClassText(const ClassReport& classes) {
  std::string text;
  const bool binary = classes.confusion.classes() == 2;
  const std::string of = binary ? fmt::format("of {}", classes.names[1])
                                : std::string("mean over classes, each against the rest");
  if (classes.auc) text += fmt::format("{:16}{:.6g}  ({})\n", "auc", *classes.auc, of);
  text += fmt::format("{:16}{:.6g}  ({})\n", "f1", classes.confusion.F1(), of);
  text += fmt::format("{:16}{:.6g}  (of the predicted class, 0 is best)\n", "calibration",
                      classes.calibration_error);
  if (classes.confusion.classes() <= kReadableClasses) {
    text += fmt::format("\n{}", classes.confusion.Table(classes.names));
  } else {
    text += fmt::format("(no confusion matrix: {} classes are too many to read{})\n",
                        classes.confusion.classes(),
                        classes.confusion.has_counts() ? "; --json has it" : "");
  }
  return text;
}

static std::string ImportanceText(const std::vector<ColumnImportance>& columns) {
  constexpr std::size_t kShown = 50;
  std::string text = "\ncolumn                    rise of the loss when shuffled\n";
  for (const ColumnImportance& column :
       std::span(columns).first(std::min(columns.size(), kShown))) {
    text += fmt::format("{:24}  {:+.6f}\n", column.name, column.loss_added);
  }
  if (columns.size() > kShown) {
    text += fmt::format("(and {} more; --json has all)\n", columns.size() - kShown);
  }
  return text;
}

std::string EvalText(const EvalReport& report) {
  std::string text = fmt::format("{:16}{}\n{:16}{:.6g}{}\n", "rows", report.sums.rows, "loss",
                                 report.sums.mean_loss(),
                                 report.scale.loss == Loss::kSoftmax ? "  (log loss)" : "");
  for (const Metric& metric : MetricsOf(report.sums, report.scale)) {
    text += fmt::format("{:16}{:.6g}\n", metric.name, metric.value);
  }
  for (const Metric& metric : report.more) {
    text += fmt::format("{:16}{:.6g}\n", metric.name, metric.value);
  }
  if (!report.members.empty()) text += MembersText(report);
  if (report.classes) text += ClassText(*report.classes);
  if (!report.importance.empty()) text += ImportanceText(report.importance);
  return text;
}

std::string EvalJson(const EvalReport& report) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  json["rows"] = report.sums.rows;
  json["loss"] = report.sums.mean_loss();
  for (const Metric& metric : MetricsOf(report.sums, report.scale)) {
    json[metric.name] = metric.value;
  }
  for (const Metric& metric : report.more) json[metric.name] = metric.value;
  if (report.classes) {
    const ClassReport& classes = *report.classes;
    if (classes.auc) json["auc"] = *classes.auc;
    json["f1"] = classes.confusion.F1();
    json["calibration_error"] = classes.calibration_error;
    json["labels"] = classes.names;
    if (classes.confusion.has_counts()) json["confusion"] = MatrixOf(classes.confusion);
  }
  for (const EvaluationSums& member : report.members) {
    nlohmann::ordered_json one = {{"loss", member.mean_loss()}};
    for (const Metric& metric : MetricsOf(member, report.scale)) one[metric.name] = metric.value;
    json["members"].push_back(one);
  }
  for (const ColumnImportance& column : report.importance) {
    json["importance"].push_back({{"column", column.name}, {"loss_added", column.loss_added}});
  }
  return JsonText(json, 2) + "\n";
}

}  // namespace hogbatch
