// The network that a training learns, and the weights it starts from.
#pragma once

#include <cstdint>
#include <vector>

#include "nn/initialize.h"
#include "nn/model_spec.h"
#include "training/input.h"
#include "training/spec.h"

namespace hogbatch {

// UserError if the input has a model to start from that does not fit.
ModelSpec ChooseModel(const TrainingSpec& spec, const TrainingInput& input);

// How weights are drawn, unless the input has a model to start from.
Initialization ChooseInit(const TrainingSpec& spec, const ModelSpec& model);

// A flat array of Layout(model): the model to start from, if there is one, else drawn.
std::vector<float> StartingWeights(const ModelSpec& model, Initialization init, std::uint64_t seed,
                                   const TrainingInput& input);

}  // namespace hogbatch
