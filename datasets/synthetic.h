// Made-up data of any shape for tests and benchmarks. A hidden linear rule gives the labels, so a
// network can learn them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "datasets/dataset.h"

namespace hogbatch {

struct SyntheticSpec {
  std::int64_t rows = 1000;
  std::int64_t features = 20;
  std::int64_t nonzeros = 0;  // per row; 0: dense rows
  std::int64_t classes = 2;
  LabelKind label_kind = LabelKind::kClass;
  double valid_fraction = 0.1;
  std::uint64_t seed = 1;
  // kMultiLabel: the labels with this many of the highest scores; 0: those whose scores are
  // positive.
  std::int64_t labels_per_row = 0;
};

// Shapes of the sets of the Hogbatch papers. The rows are made up.
struct KnownShape {
  std::string_view name;
  SyntheticSpec spec;
};
std::span<const KnownShape> KnownShapes();

TrainingData MakeSynthetic(const SyntheticSpec& spec);

}  // namespace hogbatch
