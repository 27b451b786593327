#include "nn/lanes/lane_state.h"

#include <algorithm>
#include <span>
#include <vector>

#include "core/error.h"
#include "nn/lanes/lanes.h"

namespace hogbatch {
namespace {

std::int64_t FloatsOf(const LayerShape& shape) {
  return shape.bias_at - shape.weights_at + shape.width;
}

// The layers of one array, in a flat array of the layout; and back.
std::vector<float> Flat(const ParameterLayout& layout, std::span<const std::vector<float>> layers) {
  std::vector<float> flat(layout.floats);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    Check(std::ssize(layers[i]) == FloatsOf(layout.layers[i]), "saved state fits its network");
    std::ranges::copy(layers[i], flat.begin() + layout.layers[i].weights_at);
  }
  return flat;
}

void ToLayers(const ParameterLayout& layout, std::span<const float> flat,
              std::span<std::vector<float>> layers) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const LayerShape& shape = layout.layers[i];
    const auto from = flat.begin() + shape.weights_at;
    layers[i].assign(from, from + FloatsOf(shape));
  }
}

}  // namespace

std::size_t ArraysOf(const ModelSpec& spec, const OptimizerState& state) {
  return state.layers.size() / spec.layers();
}

OptimizerState EmptyState(const ModelSpec& spec, std::size_t arrays) {
  const ParameterLayout layout = Layout(spec);
  OptimizerState state;
  if (spec.sparse_input) state.last_touched.resize(spec.inputs);
  for (std::size_t i = 0; i < arrays; ++i) {
    for (const LayerShape& shape : layout.layers) {
      state.layers.emplace_back(FloatsOf(shape));
    }
  }
  return state;
}

OptimizerState LaneOf(const ModelSpec& spec, const OptimizerState& state, std::int64_t lane) {
  const ModelSpec one = Alone(spec);
  const ParameterLayout all = Layout(spec), alone = Layout(one);
  const std::size_t layers = all.layers.size();
  OptimizerState taken = EmptyState(one, ArraysOf(spec, state));
  taken.last_touched = state.last_touched;
  for (std::size_t at = 0; at < taken.layers.size(); at += layers) {
    const std::vector<float> flat = Flat(all, std::span(state.layers).subspan(at, layers));
    ToLayers(alone, LaneOf(spec, flat, lane), std::span(taken.layers).subspan(at, layers));
  }
  return taken;
}

void SetLane(const ModelSpec& spec, std::int64_t lane, const OptimizerState& alone,
             OptimizerState& state) {
  const ParameterLayout all = Layout(spec), one = Layout(Alone(spec));
  const std::size_t layers = all.layers.size();
  if (!alone.last_touched.empty()) state.last_touched = alone.last_touched;
  for (std::size_t at = 0; at < state.layers.size(); at += layers) {
    const auto own = std::span(state.layers).subspan(at, layers);
    std::vector<float> flat = Flat(all, own);
    const bool is_there = at < alone.layers.size();
    SetLane(spec, lane,
            is_there ? Flat(one, std::span(alone.layers).subspan(at, layers))
                     : std::vector<float>(one.floats),
            flat);
    ToLayers(all, flat, own);
  }
}

}  // namespace hogbatch
