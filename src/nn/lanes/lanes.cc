#include "nn/lanes/lanes.h"

#include <algorithm>

#include "core/error.h"

namespace hogbatch {
namespace {

// Calls copy(at, alone_at, count) for each run of floats of a lane: where it lies among all lanes
// and in the array of the lane alone.
template <typename F>
void ForRuns(const ModelSpec& spec, std::int64_t lane, F copy) {
  Check(lane >= 0 && lane < spec.lanes, "a lane is among those of its network");
  const ParameterLayout all = Layout(spec), alone = Layout(Alone(spec));
  for (std::size_t i = 0; i < all.layers.size(); ++i) {
    const LayerShape &shape = all.layers[i], &own = alone.layers[i];
    const LanePart part = PartOf(all, i, lane);
    for (std::int64_t r = 0; r < part.rows; ++r) {
      copy(shape.weights_at + (part.first_row + r) * shape.out + part.first_col,
           own.weights_at + r * own.out, part.cols);
    }
    copy(shape.bias_at + lane * own.width, own.bias_at, own.width);
  }
}

}  // namespace

ModelSpec Alone(ModelSpec spec) {
  spec.lanes = 1;
  return spec;
}

LanePart PartOf(const ParameterLayout& layout, std::size_t layer, std::int64_t lane) {
  const LayerShape& shape = layout.layers[layer];
  const std::int64_t width = shape.width / layout.lanes;
  if (layer == 0) return {0, lane * width, shape.in, width};
  const std::int64_t height = shape.in / layout.lanes;
  return {lane * height, 0, height, width};
}

std::vector<float> LaneOf(const ModelSpec& spec, std::span<const float> flat, std::int64_t lane) {
  std::vector<float> alone(Layout(Alone(spec)).floats, 0.0f);
  ForRuns(spec, lane, [&](std::int64_t at, std::int64_t alone_at, std::int64_t count) {
    std::copy_n(flat.begin() + at, count, alone.begin() + alone_at);
  });
  return alone;
}

void SetLane(const ModelSpec& spec, std::int64_t lane, std::span<const float> alone,
             std::span<float> flat) {
  ForRuns(spec, lane, [&](std::int64_t at, std::int64_t alone_at, std::int64_t count) {
    std::copy_n(alone.begin() + alone_at, count, flat.begin() + at);
  });
}

void ClearLane(const ModelSpec& spec, std::int64_t lane, std::span<float> flat) {
  ForRuns(spec, lane, [&](std::int64_t at, std::int64_t, std::int64_t count) {
    std::fill_n(flat.begin() + at, count, 0.0f);
  });
}

void InitializeLanes(const ModelSpec& spec, Initialization how,
                     std::span<const std::uint64_t> seeds, std::span<float> flat) {
  Check(static_cast<std::int64_t>(seeds.size()) == spec.lanes, "every lane has its seed");
  std::fill(flat.begin(), flat.end(), 0.0f);
  const ParameterLayout alone = Layout(Alone(spec));
  std::vector<float> start(alone.floats);
  for (std::int64_t lane = 0; lane < spec.lanes; ++lane) {
    Initialize(alone, how, seeds[lane], start);
    SetLane(spec, lane, start, flat);
  }
}

}  // namespace hogbatch
