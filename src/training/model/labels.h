// Converts a network's outputs to labels.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "datasets/schema.h"
#include "nn/model_spec.h"

namespace hogbatch {

// Raw outputs as probabilities, or as numbers on the label's own scale.
std::vector<float> OutputValues(const Schema& schema, Loss loss, std::span<const float> outputs);

// A row's prediction as text: the most probable class, the labels separated by spaces, or the
// number. `top`: how many labels; 0: those of at least 50 %, and at least one.
std::string LabelText(const Schema& schema, std::span<const float> values, std::int64_t top = 0);

}  // namespace hogbatch
