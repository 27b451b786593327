#include "datasets/synthetic.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/random.h"

namespace hogbatch {
namespace {

// Appends a row: dense ones are normal, sparse ones have values in (0, 1] at random columns.
void AppendRow(const SyntheticSpec& spec, Random& random, Dataset& data) {
  if (spec.nonzeros == 0) {
    for (std::int64_t i = 0; i < spec.features; ++i) {
      data.dense.push_back(static_cast<float>(random.Normal()));
    }
    return;
  }
  std::set<std::int32_t> columns;
  while (static_cast<std::int64_t>(columns.size()) < spec.nonzeros) {
    columns.insert(static_cast<std::int32_t>(random.Below(spec.features)));
  }
  data.columns.insert(data.columns.end(), columns.begin(), columns.end());
  for (std::int64_t i = 0; i < spec.nonzeros; ++i) {
    data.values.push_back(static_cast<float>(1 - random.Uniform()));
  }
  data.offsets.push_back(static_cast<std::int64_t>(data.values.size()));
}

// The last row times the hidden weights (features × outputs).
std::vector<double> Score(const SyntheticSpec& spec, const std::vector<float>& weights,
                          const Dataset& data) {
  std::vector<double> scores(spec.classes, 0);
  const auto add = [&](std::int64_t feature, float value) {
    for (std::int64_t k = 0; k < spec.classes; ++k) {
      scores[k] += value * weights[feature * spec.classes + k];
    }
  };
  if (spec.nonzeros == 0) {
    const std::int64_t first = std::ssize(data.dense) - spec.features;
    for (std::int64_t i = 0; i < spec.features; ++i) add(i, data.dense[first + i]);
  }
  for (std::int64_t i = std::ssize(data.values) - spec.nonzeros; i < std::ssize(data.values); ++i) {
    add(data.columns[i], data.values[i]);
  }
  return scores;
}

// Above which a label is one of the row's.
double LeastScore(const SyntheticSpec& spec, std::vector<double> scores) {
  if (spec.labels_per_row == 0 || spec.labels_per_row >= std::ssize(scores)) return 0;
  const auto next = scores.begin() + spec.labels_per_row;
  std::ranges::nth_element(scores, next, std::greater<>());
  return *next;
}

void AppendLabels(double least, const std::vector<double>& scores, Dataset& data) {
  for (std::size_t k = 0; k < scores.size(); ++k) {
    if (scores[k] > least) data.labels.push_back(static_cast<std::int32_t>(k));
  }
}

void AppendLabel(const SyntheticSpec& spec, const std::vector<double>& scores, Dataset& data) {
  switch (spec.label_kind) {
    case LabelKind::kClass:
      data.classes.push_back(static_cast<std::int32_t>(
          std::max_element(scores.begin(), scores.end()) - scores.begin()));
      return;
    case LabelKind::kMultiLabel:
      AppendLabels(LeastScore(spec, scores), scores, data);
      data.label_offsets.push_back(static_cast<std::int64_t>(data.labels.size()));
      return;
    case LabelKind::kValue: {
      const auto terms = static_cast<double>(spec.nonzeros == 0 ? spec.features : spec.nonzeros);
      data.targets.push_back(static_cast<float>(scores[0] / std::sqrt(terms)));
      return;
    }
  }
}

Schema MakeSchema(const SyntheticSpec& spec) {
  Schema schema;
  schema.file_columns = schema.features = spec.features;
  schema.label_kind = spec.label_kind;
  if (spec.label_kind == LabelKind::kValue) return schema;
  for (std::int64_t k = 0; k < spec.classes; ++k) schema.label_names.push_back(std::to_string(k));
  return schema;
}

constexpr std::array kKnownShapes = {
    KnownShape{"covtype", {.rows = 581012, .features = 54, .classes = 2}},
    KnownShape{"w8a", {.rows = 64700, .features = 300, .nonzeros = 12, .classes = 2}},
    KnownShape{"real-sim", {.rows = 72309, .features = 20958, .nonzeros = 51, .classes = 2}},
    KnownShape{"delicious",
               {.rows = 16105,
                .features = 500,
                .nonzeros = 18,
                .classes = 983,
                .label_kind = LabelKind::kMultiLabel,
                .labels_per_row = 19}},
};

}  // namespace

std::span<const KnownShape> KnownShapes() { return kKnownShapes; }

TrainingData MakeSynthetic(const SyntheticSpec& spec) {
  Check(spec.nonzeros <= spec.features, "a row has no more non-zeros than features");
  Check(spec.rows > 0 && spec.features > 0 && spec.classes > 0, "synthetic data has a shape");
  Random random(spec.seed);
  std::vector<float> weights(spec.features * spec.classes);
  for (float& weight : weights) weight = static_cast<float>(random.Normal());

  TrainingData result;
  Dataset& data = result.data;
  data.source = "synthetic";
  data.rows = spec.rows;
  data.features = spec.features;
  data.is_sparse = spec.nonzeros > 0;
  if (data.is_sparse) data.offsets.push_back(0);
  if (spec.label_kind == LabelKind::kMultiLabel) data.label_offsets.push_back(0);
  for (std::int64_t row = 0; row < spec.rows; ++row) {
    AppendRow(spec, random, data);
    AppendLabel(spec, Score(spec, weights, data), data);
  }
  result.schema = MakeSchema(spec);
  result.train_rows =
      spec.rows -
      static_cast<std::int64_t>(std::round(static_cast<double>(spec.rows) * spec.valid_fraction));
  return result;
}

}  // namespace hogbatch
