// Made-up data of any shape for tests and benchmarks. A hidden linear rule gives the labels, so a
// network can learn them.
#pragma once

#include <cstdint>

#include "datasets/dataset.h"

namespace hogbatch {

struct SyntheticSpec {
  std::int64_t rows = 1000;
  std::int64_t features = 20;
  std::int64_t nonzeros = 0;  // per row; 0: dense rows
  std::int64_t classes = 2;
  LabelKind label_kind = LabelKind::kClass;  // kMultiLabel: the labels whose scores are positive
  double valid_fraction = 0.1;
  std::uint64_t seed = 1;
};

TrainingData MakeSynthetic(const SyntheticSpec& spec);

}  // namespace hogbatch
