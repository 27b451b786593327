// Sums of an evaluation as the metrics that users know.
#pragma once

#include <string>
#include <vector>

#include "core/evaluation.h"
#include "nn/model_spec.h"

namespace hogbatch {

// What turns sums into the user's quality: the loss names it, and errors scale with the label.
struct QualityScale {
  Loss loss = Loss::kSoftmax;
  double target_deviation = 1;
};

// Named as in metrics.jsonl without the split: "accuracy", "precision_at_1", "rmse".
struct Quality {
  std::string name;
  double value = 0;
};
std::vector<Quality> Qualities(const EvaluationSums& sums, const QualityScale& scale);

}  // namespace hogbatch
