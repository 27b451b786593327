#include "nn/metric_values.h"

#include <cmath>

namespace hogbatch {

std::vector<Metric> MetricsOf(const EvaluationSums& sums, const MetricScale& scale) {
  const auto rows = static_cast<double>(sums.rows);
  switch (scale.loss) {
    case Loss::kSoftmax:
      return {{"accuracy", static_cast<double>(sums.correct) / rows}};
    case Loss::kSigmoid:
      return {{"precision_at_1", sums.hits_at[0] / rows},
              {"precision_at_3", sums.hits_at[1] / rows},
              {"precision_at_5", sums.hits_at[2] / rows}};
    case Loss::kSquared:
      break;
  }
  return {{"rmse", std::sqrt(sums.squared_error / rows) * scale.target_deviation}};
}

}  // namespace hogbatch
