// What optimisers keep between updates, on a device.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/error.h"
#include "device/buffer.h"
#include "device/device.h"
#include "nn/layer_blocks.h"
#include "nn/optimizer.h"

namespace hogbatch {

// Remembers when each row of a sparse layer was last touched, so that the decay and momentum of the
// updates it skipped can be applied when it is touched again.
class LazyRows {
 public:
  LazyRows(Device& device, std::int64_t rows)
      : device_(device), last_(rows, 0), skipped_on_device_(device, rows * sizeof(std::int32_t)) {}

  TouchedRows Touch(const LayerGradient& gradient, std::int64_t update) {
    const std::span<const std::int32_t> rows = gradient.touched_on_host;
    Check(static_cast<std::int64_t>(rows.size()) == gradient.touched.size,
          "host and device know the same touched rows");
    Check(rows.size() <= last_.size(), "an update touches more rows than a layer has");
    // Those of the last update may still be uploading; those of the one before have arrived.
    std::vector<std::int32_t>& skipped_rows = skipped_[turn_ ^= 1];
    skipped_rows.resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::size_t row = rows[i];  // a negative one becomes huge
      Check(row < last_.size(), "an update touches a row its layer does not have");
      std::int64_t& last = last_[row];
      const std::int64_t missed = std::max<std::int64_t>(0, update - last - 1);
      skipped_rows[i] = static_cast<std::int32_t>(
          std::min<std::int64_t>(missed, std::numeric_limits<std::int32_t>::max()));
      last = update;
    }
    const auto skipped = skipped_on_device_.span<const std::int32_t>();
    device_.Upload(std::as_bytes(std::span(skipped_rows)), skipped.base, 0);
    return {.rows = gradient.touched, .skipped = skipped.Sub(0, gradient.touched.size)};
  }

  const std::vector<std::int64_t>& last_touched() const { return last_; }
  void Load(const std::vector<std::int64_t>& last_touched) {
    Check(last_touched.size() == last_.size(), "saved rows are as many as a layer has");
    last_ = last_touched;
  }

 private:
  // not state: device_, skipped_, turn_, skipped_on_device_
  Device& device_;
  std::vector<std::int64_t> last_;                    // update of each row's last touch; 0: never
  std::array<std::vector<std::int32_t>, 2> skipped_;  // used in turn
  int turn_ = 0;
  Buffer skipped_on_device_;
};

// Zeroed memory in the shape of the parameters.
class StateMemory {
 public:
  StateMemory(Device& device, const ParameterLayout& layout)
      : device_(device), blocks_(device, layout) {
    for (const LayerView& view : blocks_.views()) {
      if (!view.weights.empty()) device.Fill(view.weights, 0);
      device.Fill(view.bias, 0);
    }
  }
  const LayerView& layer(int i) const { return blocks_.views()[i]; }
  std::size_t layers() const { return blocks_.views().size(); }

  void SaveTo(OptimizerState& state) {
    for (std::size_t i = 0; i < layers(); ++i) {
      std::vector<float>& saved = state.layers.emplace_back(blocks_.floats(i));
      blocks_.Download(i, saved);
      device_.Wait();
      const Tensor& weights = blocks_.views()[i].weights;
      std::fill(saved.begin() + weights.rows * weights.cols, saved.begin() + blocks_.bias_at(i), 0);
    }
  }
  // `layers` begins with those of this array.
  void Load(std::span<const std::vector<float>> saved) {
    Check(saved.size() >= layers(), "saved state has all layers");
    for (std::size_t i = 0; i < layers(); ++i) blocks_.Upload(i, saved[i]);
    device_.Wait();
  }

 private:
  Device& device_;
  LayerBlocks blocks_;
};

// All state of an optimiser, one array after the other.
inline OptimizerState SaveState(std::span<StateMemory> arrays, const LazyRows& lazy) {
  OptimizerState state{.layers = {}, .last_touched = lazy.last_touched()};
  for (StateMemory& array : arrays) array.SaveTo(state);
  return state;
}
inline void LoadState(const OptimizerState& state, std::span<StateMemory> arrays, LazyRows& lazy) {
  lazy.Load(state.last_touched);
  std::span<const std::vector<float>> layers = state.layers;
  for (StateMemory& array : arrays) {
    array.Load(layers);
    layers = layers.subspan(array.layers());
  }
  Check(layers.empty(), "saved state has no further layers");
}

}  // namespace hogbatch
