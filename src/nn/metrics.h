// Exact losses and metrics of outputs, computed on the host in double precision.
#pragma once

#include <cstdint>
#include <span>

#include "core/evaluation.h"
#include "nn/model_spec.h"

namespace hogbatch {

// The targets of rows, in host memory; only the members for the model's loss are filled.
struct HostTargets {
  std::span<const std::int32_t> classes;
  std::span<const std::int64_t> label_offsets;  // rows + 1, into labels
  std::span<const std::int32_t> labels;
  std::span<const float> values;
  std::span<const float> weights = {};  // of the rows' losses; empty: 1
};

// `outputs` are rows × outputs raw numbers (before softmax or sigmoid). `class_weights` as in
// training; empty: none. Weights enter the loss; metrics count rows.
EvaluationSums Evaluate(Loss loss, std::span<const float> outputs, std::int64_t columns,
                        const HostTargets& targets, std::span<const float> class_weights);

// Softmax or sigmoid in place, row by row: from raw outputs to probabilities.
void ToProbabilities(Loss loss, std::span<float> outputs, std::int64_t columns);

}  // namespace hogbatch
