// Outputs of a trained network for the rows of a data set.
#pragma once

#include <functional>
#include <span>

#include "core/ids.h"
#include "datasets/dataset.h"
#include "nn/model_spec.h"
#include "runtime/workers/worker.h"

namespace hogbatch {

// Runs one thread per device over blocks of these rows. `sink` gets the raw outputs of each block
// (rows × outputs), one call at a time and blocks in any order. `parameters` is a flat array of
// Layout(spec). Rows may be dense or sparse; both work with any network.
void Infer(std::span<const DeviceFactory> devices, const ModelSpec& spec,
           std::span<const float> parameters, const Dataset& data, RowRange rows,
           const std::function<void(RowRange rows, std::span<const float> outputs)>& sink);

}  // namespace hogbatch
