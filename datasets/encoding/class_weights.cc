#include "datasets/encoding/class_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <string>

#include "core/error.h"
#include "core/spelling.h"
#include "core/text.h"

namespace hogbatch {
namespace {

constexpr std::string_view kBalanced = "balanced";
constexpr double kMaxPositiveWeight = 100;  // a label seen once must not outweigh all others

std::vector<std::int64_t> CountLabels(const Schema& schema, const Dataset& data,
                                      std::int64_t train_rows) {
  std::vector<std::int64_t> counts(schema.label_names.size());
  const bool several = schema.label_kind == LabelKind::kMultiLabel;
  const auto end = several ? data.label_offsets[train_rows] : train_rows;
  const Array<std::int32_t>& labels = several ? data.labels : data.classes;
  for (std::int64_t i = 0; i < end; ++i) ++counts[labels[i]];
  return counts;
}

std::vector<float> BalancedWeights(const Schema& schema, const Dataset& data,
                                   std::int64_t train_rows) {
  const std::vector<std::int64_t> counts = CountLabels(schema, data, train_rows);
  const auto rows = static_cast<double>(train_rows);
  std::vector<float> weights;
  for (const std::int64_t count : counts) {
    const auto with = static_cast<double>(count);
    double weight = 1;  // a label the training rows do not have
    if (count > 0 && schema.label_kind == LabelKind::kMultiLabel) {
      weight = std::clamp((rows - with) / with, 1 / kMaxPositiveWeight, kMaxPositiveWeight);
    } else if (count > 0) {
      weight = rows / (static_cast<double>(counts.size()) * with);
    }
    weights.push_back(static_cast<float>(weight));
  }
  return weights;
}

struct LabelWeight {
  std::string_view label;
  float weight;
};

// "LABEL=WEIGHT,…" without regard to which labels there are.
std::vector<LabelWeight> ParseList(std::string_view text) {
  std::vector<LabelWeight> weights;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    const std::size_t equals = item.rfind('=');
    if (equals == std::string_view::npos) {
      throw UserError(
          fmt::format("--class-weights takes {}, {} or LABEL=WEIGHT,…; '{}' is none of them",
                      kNoClassWeights, kBalanced, item));
    }
    const std::string_view label = item.substr(0, equals);
    const double weight = ParseReal("--class-weights", item.substr(equals + 1));
    if (weight < 0 || weight > 1e6) {
      throw UserError(
          fmt::format("--class-weights: the weight of {} must be between 0 and 1e+06, "
                      "not {}",
                      label, weight));
    }
    weights.push_back({label, static_cast<float>(weight)});
  }
  return weights;
}

}  // namespace

static void DivideByMean(std::span<float> weights, const std::string& source, std::string_view of) {
  if (weights.empty()) return;
  const double mean =
      std::accumulate(weights.begin(), weights.end(), 0.0) / static_cast<double>(weights.size());
  if (mean == 0) {
    throw UserError(fmt::format(
        "{}: all {} rows have weight 0; choose another column with --weight", source, of));
  }
  for (float& weight : weights) weight = static_cast<float>(weight / mean);
}

void NormalizeRowWeights(TrainingData& training) {
  if (training.data.weights.empty()) return;
  const std::span<float> weights(training.data.weights.data(), training.data.weights.size());
  const auto train_rows = static_cast<std::size_t>(training.train_rows);
  DivideByMean(weights.first(train_rows), training.data.source, "training");
  DivideByMean(weights.subspan(train_rows), training.data.source, "validation");
}

Words ClassWeightWords() { return {{kNoClassWeights, std::string(kBalanced)}, "LABEL=W,..."}; }

bool WeighsClasses(std::string_view text) { return !text.empty() && text != kNoClassWeights; }

void CheckClassWeights(std::string_view text) {
  if (WeighsClasses(text) && text != kBalanced) ParseList(text);
}

std::vector<float> ParseClassWeights(std::string_view text, const Schema& schema,
                                     const Dataset& data, std::int64_t train_rows) {
  if (!WeighsClasses(text)) return {};
  if (schema.label_kind == LabelKind::kValue) {
    throw UserError(
        "--class-weights has no meaning here: the labels are numbers, not classes; leave it out");
  }
  if (text == kBalanced) return BalancedWeights(schema, data, train_rows);

  const std::vector<std::string>& names = schema.label_names;
  std::vector<float> weights(names.size(), 1.0f);
  for (const auto& [label, weight] : ParseList(text)) {
    const auto found = std::find(names.begin(), names.end(), label);
    if (found == names.end()) {
      throw UserError(fmt::format("--class-weights: the data has no label '{}'{}", label,
                                  DidYouMean(label, names)));
    }
    weights[found - names.begin()] = weight;
  }
  return weights;
}

}  // namespace hogbatch
