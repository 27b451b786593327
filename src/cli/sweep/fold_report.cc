#include "cli/sweep/fold_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/sweep/sweep_report.h"
#include "core/guard/json_text.h"
#include "training/model/model_file.h"

namespace hogbatch {
namespace {

int DecimalsOf(double value) {
  const double size = std::abs(value);
  return size < 10 ? 4 : size < 100 ? 2 : size < 1000 ? 1 : 0;
}

// "0.4669 ± 0.0052", "219.2 ± 22.0": four digits of the mean, and as many decimals of the
// deviation.
std::string Text(const FoldSpread& spread) {
  if (!std::isfinite(spread.mean)) return "-";
  const int decimals = DecimalsOf(spread.mean);
  if (!std::isfinite(spread.deviation)) return fmt::format("{:.{}f}", spread.mean, decimals);
  return fmt::format("{:.{}f} ± {:.{}f}", spread.mean, decimals, spread.deviation, decimals);
}

std::string TextWithRange(const FoldSpread& spread) {
  if (!std::isfinite(spread.mean)) return "-";
  const int decimals = DecimalsOf(spread.mean);
  return fmt::format("{} ({:.{}f} to {:.{}f})", Text(spread), spread.lowest, decimals,
                     spread.highest, decimals);
}

nlohmann::ordered_json ToJson(const FoldSpread& spread) {
  nlohmann::ordered_json json = {{"mean", spread.mean}};
  if (std::isfinite(spread.deviation)) json["deviation"] = spread.deviation;
  json["lowest"] = spread.lowest;
  json["highest"] = spread.highest;
  return json;
}

}  // namespace

std::vector<std::string> FoldTable(const SweepResults& sweep, std::size_t most) {
  const std::vector<FoldMeans> all = MeansOfFolds(sweep);
  const bool has_test = std::ranges::any_of(
      all, [](const FoldMeans& means) { return std::isfinite(means.test_loss.mean); });
  const std::size_t folds = CountFolds(sweep.trials);
  std::vector<std::vector<std::string>> rows = {{"setting", "folds", "loss", sweep.metric}};
  if (has_test) rows[0].push_back("test " + sweep.metric);
  for (const auto& [name, value] : SettingOf(sweep, all.front()).values) rows[0].push_back(name);
  for (const FoldMeans& means : all) {
    if (rows.size() > most) break;
    std::vector<std::string> row = {
        fmt::format("{}", means.setting + 1),
        means.is_complete ? fmt::format("{}", folds) : fmt::format("{} of {}", means.folds, folds),
        Text(means.valid_loss), Text(means.valid_metric)};
    if (has_test) row.push_back(Text(means.test_metric));
    for (const auto& [name, value] : SettingOf(sweep, means).values) row.push_back(value);
    rows.push_back(std::move(row));
  }
  return Aligned(rows);
}

std::string FoldLine(const FoldMeans& means, const std::string& metric) {
  std::string line = fmt::format("{} fold{}: validation loss {}", means.folds,
                                 means.folds == 1 ? "" : "s", TextWithRange(means.valid_loss));
  if (std::isfinite(means.valid_metric.mean)) {
    line += fmt::format(", {} {}", metric, TextWithRange(means.valid_metric));
  }
  if (std::isfinite(means.test_metric.mean)) {
    line += fmt::format("; test {} {}", metric, TextWithRange(means.test_metric));
  }
  return line;
}

std::string FoldsJson(const SweepResults& sweep, const std::string& folder) {
  const FoldMeans means = MeansOfFolds(sweep).front();
  const std::size_t folds = CountFolds(sweep.trials);
  nlohmann::ordered_json json = {{"folds", means.folds}, {"is_complete", means.is_complete}};
  for (const auto& [name, value] : SettingOf(sweep, means).values) json["varied"][name] = value;
  const auto put = [&](const std::string& name, const FoldSpread& spread) {
    if (std::isfinite(spread.mean)) json[name] = ToJson(spread);
  };
  put("valid_loss", means.valid_loss);
  put("valid_" + sweep.metric, means.valid_metric);
  put("test_loss", means.test_loss);
  put("test_" + sweep.metric, means.test_metric);
  if (means.is_complete) {
    const auto results = sweep.results.subspan(means.setting * folds, folds);
    json["model"] = ModelPath(folder);
    json["fold_of_model"] = Ranking(results).front() + 1;
  }
  return JsonText(json, 2) + "\n";
}

}  // namespace hogbatch
