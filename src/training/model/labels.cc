#include "training/model/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "nn/metrics.h"

namespace hogbatch {
namespace {

// The labels to print, the most probable first.
std::vector<std::size_t> ChooseLabels(std::span<const float> probabilities, std::int64_t top) {
  std::vector<std::size_t> order(probabilities.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return probabilities[a] != probabilities[b] ? probabilities[a] > probabilities[b] : a < b;
  });
  auto keep = static_cast<std::size_t>(top);
  if (top == 0) {
    const auto likely = std::ranges::count_if(probabilities, [](float p) { return p >= 0.5f; });
    keep = std::max<std::size_t>(1, static_cast<std::size_t>(likely));
  }
  order.resize(std::min(keep, order.size()));
  return order;
}

}  // namespace

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

std::string LabelText(const Schema& schema, std::span<const float> values, std::int64_t top) {
  switch (schema.label_kind) {
    case LabelKind::kValue:
      return fmt::format("{:.7g}", values.front());
    case LabelKind::kClass:
      return schema.label_names[std::ranges::max_element(values) - values.begin()];
    case LabelKind::kMultiLabel:
      break;
  }
  std::string text;
  for (const std::size_t label : ChooseLabels(values, top)) {
    if (!text.empty()) text += ' ';
    text += schema.label_names[label];
  }
  return text;
}

}  // namespace hogbatch
