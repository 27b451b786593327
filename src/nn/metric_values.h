// The metrics that users see, from the sums of an evaluation.
#pragma once

#include <string>
#include <vector>

#include "core/evaluation.h"
#include "nn/model_spec.h"

namespace hogbatch {

// What metrics depend on besides the sums: the loss, and the deviation of the labels for errors.
struct MetricScale {
  Loss loss = Loss::kSoftmax;
  double target_deviation = 1;
};

// Named as in metrics.jsonl without the split: "accuracy", "precision_at_1", "rmse".
struct Metric {
  std::string name;
  double value = 0;
};
std::vector<Metric> MetricsOf(const EvaluationSums& sums, const MetricScale& scale);

}  // namespace hogbatch
