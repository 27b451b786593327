#include "cli/sweep/fold_report.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/sweep/sweep_report.h"

namespace hogbatch {
namespace {

std::string Text(const FoldSpread& spread) {
  if (!std::isfinite(spread.mean)) return "-";
  if (!std::isfinite(spread.deviation)) return fmt::format("{:.4f}", spread.mean);
  return fmt::format("{:.4f} ± {:.4f}", spread.mean, spread.deviation);
}

std::string TextWithRange(const FoldSpread& spread) {
  return fmt::format("{} ({:.4f} to {:.4f})", Text(spread), spread.lowest, spread.highest);
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
  const bool has_test = std::isfinite(all.front().test_loss.mean);
  std::vector<std::vector<std::string>> rows = {{"setting", "folds", "loss", sweep.metric}};
  if (has_test) rows[0].push_back("test " + sweep.metric);
  for (const auto& [name, value] : SettingOf(sweep, all.front()).values) rows[0].push_back(name);
  for (const FoldMeans& means : all) {
    if (rows.size() > most || means.folds == 0) break;
    std::vector<std::string> row = {fmt::format("{}", means.setting + 1),
                                    fmt::format("{}", means.folds), Text(means.valid_loss),
                                    Text(means.valid_metric)};
    if (has_test) row.push_back(Text(means.test_metric));
    for (const auto& [name, value] : SettingOf(sweep, means).values) row.push_back(value);
    rows.push_back(std::move(row));
  }
  return Aligned(rows);
}

std::string FoldLine(const FoldMeans& means, const std::string& metric) {
  std::string line =
      fmt::format("{} folds: validation loss {}", means.folds, TextWithRange(means.valid_loss));
  if (std::isfinite(means.valid_metric.mean)) {
    line += fmt::format(", {} {}", metric, TextWithRange(means.valid_metric));
  }
  if (std::isfinite(means.test_metric.mean)) {
    line += fmt::format("; test {} {}", metric, TextWithRange(means.test_metric));
  }
  return line;
}

Trial SettingOf(const SweepResults& sweep, const FoldMeans& means) {
  Trial setting = sweep.trials[means.setting * CountFolds(sweep.trials)];
  setting.values.pop_back();
  setting.spec.fold.clear();
  return setting;
}

std::string FoldsJson(const SweepResults& sweep, const std::string& folder) {
  const FoldMeans means = MeansOfFolds(sweep).front();
  nlohmann::ordered_json json = {{"folds", means.folds}};
  for (const auto& [name, value] : SettingOf(sweep, means).values) json["varied"][name] = value;
  json["valid_loss"] = ToJson(means.valid_loss);
  json["valid_" + sweep.metric] = ToJson(means.valid_metric);
  if (std::isfinite(means.test_loss.mean)) {
    json["test_loss"] = ToJson(means.test_loss);
    json["test_" + sweep.metric] = ToJson(means.test_metric);
  }
  json["model"] = folder + "/model.safetensors";
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace hogbatch
