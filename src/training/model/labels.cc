#include "training/model/labels.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "nn/metrics.h"

namespace hogbatch {
namespace {

// Labels by their probability, the largest first.
std::vector<std::size_t> ByProbability(std::span<const float> probabilities) {
  std::vector<std::size_t> order(probabilities.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return probabilities[a] != probabilities[b] ? probabilities[a] > probabilities[b] : a < b;
  });
  return order;
}

}  // namespace

MetricScale ScaleOf(const ModelSpec& model, const Schema& schema) {
  return {.loss = model.loss, .target_deviation = schema.target_deviation};
}

std::vector<float> OutputValues(const Schema& schema, Loss loss, std::span<const float> outputs) {
  std::vector<float> values(outputs.begin(), outputs.end());
  if (schema.label_kind != LabelKind::kValue) {
    ToProbabilities(loss, values, schema.outputs());
    return values;
  }
  for (float& value : values) {
    value = static_cast<float>(value * schema.target_deviation + schema.target_mean);
  }
  return values;
}

std::vector<std::string> ChosenLabels(const Schema& schema, std::span<const float> values,
                                      const LabelChoice& choice) {
  const double threshold = choice.threshold > 0 ? choice.threshold : 0.5;
  const bool is_class = schema.label_kind == LabelKind::kClass;
  if (is_class && choice.top == 0 && choice.threshold > 0 && values.size() == 2) {
    return {schema.label_names[values[1] >= threshold ? 1 : 0]};
  }
  std::size_t keep = choice.top;
  if (keep == 0) {
    const auto likely = std::ranges::count_if(values, [&](float p) { return p >= threshold; });
    keep = is_class ? 1 : std::max<std::size_t>(1, likely);
  }
  std::vector<std::string> names;
  for (const std::size_t label : ByProbability(values)) {
    if (names.size() == keep) break;
    names.push_back(schema.label_names[label]);
  }
  return names;
}

std::string NumberText(float value) { return fmt::format("{:.7g}", value); }

std::string LabelText(const Schema& schema, std::span<const float> values,
                      const LabelChoice& choice) {
  if (schema.label_kind == LabelKind::kValue) return NumberText(values.front());
  return fmt::format("{}", fmt::join(ChosenLabels(schema, values, choice), " "));
}

}  // namespace hogbatch
