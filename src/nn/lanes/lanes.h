// Lanes: networks of one shape in one flat array (ModelSpec::lanes), which are trained together.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nn/initialize.h"
#include "nn/model_spec.h"

namespace hogbatch {

// One lane alone.
ModelSpec Alone(ModelSpec spec);

// Where a lane lies in the weights of a layer, and how it would alone.
struct LanePart {
  std::int64_t first_row, first_col;
  std::int64_t rows, cols;
};
LanePart PartOf(const ParameterLayout& layout, std::size_t layer, std::int64_t lane);

// The parameters of a lane, as a flat array of the lane alone.
std::vector<float> LaneOf(const ModelSpec& spec, std::span<const float> flat, std::int64_t lane);
// Puts such an array into its place among all lanes.
void SetLane(const ModelSpec& spec, std::int64_t lane, std::span<const float> alone,
             std::span<float> flat);

void ClearLane(const ModelSpec& spec, std::int64_t lane, std::span<float> flat);

// Starting weights: lane i starts as it would alone with seeds[i].
void InitializeLanes(const ModelSpec& spec, Initialization how,
                     std::span<const std::uint64_t> seeds, std::span<float> flat);

}  // namespace hogbatch
