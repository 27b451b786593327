#include "training/sweep/fold_means.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "core/text.h"

namespace hogbatch {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

FoldMeans MeansOf(const SweepResults& sweep, std::size_t setting, std::size_t folds) {
  FoldMeans means{.setting = setting};
  std::size_t ended = 0;
  std::vector<double> valid_loss, valid_metric, test_loss, test_metric;
  for (std::size_t fold = 0; fold < folds; ++fold) {
    const TrialResult& result = sweep.results[setting * folds + fold];
    if (IsOver(result.state)) ++ended;
    const TrialPoint* const best = result.best();
    if (!best || EndedBadly(result.state)) continue;
    ++means.folds;
    valid_loss.push_back(best->valid_loss);
    valid_metric.push_back(best->valid_metric);
    test_loss.push_back(best->test_loss);
    test_metric.push_back(best->test_metric);
  }
  means.is_complete = means.folds == folds && ended == folds;
  means.valid_loss = FoldSpreadOf(valid_loss);
  means.valid_metric = FoldSpreadOf(valid_metric);
  means.test_loss = FoldSpreadOf(test_loss);
  means.test_metric = FoldSpreadOf(test_metric);
  return means;
}

std::string Fields(const FoldSpread& spread) {
  std::string text;
  for (const double value : {spread.mean, spread.deviation, spread.lowest, spread.highest}) {
    text += std::isfinite(value) ? fmt::format(",{:g}", value) : ",";
  }
  return text;
}

}  // namespace

FoldSpread FoldSpreadOf(std::span<const double> values) {
  if (values.empty()) return {kUnknown, kUnknown, kUnknown, kUnknown};
  const auto count = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  const double mean = sum / count;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {.mean = mean,
          .deviation = values.size() > 1 ? std::sqrt(squares / (count - 1)) : kUnknown,
          .lowest = std::ranges::min(values),
          .highest = std::ranges::max(values)};
}

std::size_t CountFolds(std::span<const Trial> trials) {
  return std::ranges::max_element(trials, {}, &Trial::fold)->fold + 1;
}

std::vector<FoldMeans> MeansOfFolds(const SweepResults& sweep) {
  const std::size_t folds = CountFolds(sweep.trials);
  std::vector<FoldMeans> means;
  for (std::size_t i = 0; i < sweep.trials.size() / folds; ++i) {
    means.push_back(MeansOf(sweep, i, folds));
  }
  std::ranges::stable_sort(means, {}, [](const FoldMeans& one) {
    const bool has_loss = one.folds > 0;
    return std::tuple(!one.is_complete,
                      has_loss ? one.valid_loss.mean : std::numeric_limits<double>::infinity());
  });
  return means;
}

Trial SettingOf(const SweepResults& sweep, const FoldMeans& means) {
  Trial setting = sweep.trials[means.setting * CountFolds(sweep.trials)];
  setting.values.pop_back();
  setting.spec.fold.clear();
  return setting;
}

std::string FoldsCsv(const SweepResults& sweep) {
  const std::size_t folds = CountFolds(sweep.trials);
  std::string text = "setting,folds";
  const auto& names = sweep.trials.front().values;
  for (std::size_t i = 0; i + 1 < names.size(); ++i) text += "," + CsvText(names[i].first);
  for (const std::string& name : {std::string("valid_loss"), "valid_" + sweep.metric,
                                  std::string("test_loss"), "test_" + sweep.metric}) {
    text += fmt::format(",{0}_mean,{0}_deviation,{0}_lowest,{0}_highest", name);
  }
  text += "\n";
  for (const FoldMeans& means : MeansOfFolds(sweep)) {
    text += fmt::format("{},{}", means.setting + 1, means.folds);
    const auto& values = sweep.trials[means.setting * folds].values;
    for (std::size_t i = 0; i + 1 < values.size(); ++i) text += "," + CsvText(values[i].second);
    text += Fields(means.valid_loss) + Fields(means.valid_metric) + Fields(means.test_loss) +
            Fields(means.test_metric) + "\n";
  }
  return text;
}

}  // namespace hogbatch
