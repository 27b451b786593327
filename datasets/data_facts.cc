#include "datasets/data_facts.h"

#include <algorithm>
#include <functional>

namespace hogbatch {
namespace {

LabelFacts CountClasses(const TrainingData& data) {
  std::vector<std::int64_t> counts(data.schema.label_names.size(), 0);
  for (const std::int32_t label : data.data.classes) ++counts[label];
  for (const std::int32_t label : data.data.labels) ++counts[label];
  LabelFacts facts;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    facts.classes.emplace_back(data.schema.label_names[i], counts[i]);
  }
  std::ranges::stable_sort(facts.classes, std::greater<>(),
                           [](const auto& one) { return one.second; });
  return facts;
}

LabelFacts MeasureTargets(const TrainingData& data) {
  const auto number = [&](double x) {
    return x * data.schema.target_deviation + data.schema.target_mean;
  };
  const auto [min, max] = std::ranges::minmax(data.data.targets);
  return {.classes = {}, .min = number(min), .mean = data.schema.target_mean, .max = number(max)};
}

}  // namespace

LabelFacts FactsOfLabels(const TrainingData& data) {
  return data.schema.label_kind == LabelKind::kValue ? MeasureTargets(data) : CountClasses(data);
}

double NonzeroShare(const Dataset& data) {
  if (!data.is_sparse) return 1;
  const double cells = static_cast<double>(data.rows) * static_cast<double>(data.features);
  return static_cast<double>(data.values.size()) / cells;
}

}  // namespace hogbatch
