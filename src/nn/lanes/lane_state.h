// What an optimiser keeps of one lane.
#pragma once

#include <cstdint>

#include "nn/model_spec.h"
#include "nn/optimizer.h"

namespace hogbatch {

// The state of a lane, as an optimiser of the lane alone has it.
OptimizerState LaneOf(const ModelSpec& spec, const OptimizerState& state, std::int64_t lane);
// Puts such a state into its place among all lanes. An array that `alone` does not have becomes 0;
// one that `state` does not have is left out. When rows were touched is the same for all lanes.
void SetLane(const ModelSpec& spec, std::int64_t lane, const OptimizerState& alone,
             OptimizerState& state);

// The state of lanes that have not begun, with `arrays` arrays in the shape of the parameters.
OptimizerState EmptyState(const ModelSpec& spec, std::size_t arrays);
// How many arrays there are.
std::size_t ArraysOf(const ModelSpec& spec, const OptimizerState& state);

}  // namespace hogbatch
