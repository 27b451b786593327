// An ensemble: lanes whose predictions are averaged.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nn/model_spec.h"

namespace hogbatch {

// Raw outputs of one network that predicts what the lanes predict on average: the mean of their
// probabilities, or of their numbers. `outputs` has those of all lanes beside each other, row by
// row; `columns` are those of a lane.
std::vector<float> MeanOfLanes(Loss loss, std::span<const float> outputs, std::int64_t lanes,
                               std::int64_t columns);

}  // namespace hogbatch
