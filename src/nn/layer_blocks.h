// Parameters in a device's memory, one block per layer: work on a layer does not wait for transfers
// of other layers, and a device that limits the size of a block can hold larger networks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device/buffer.h"
#include "device/device.h"
#include "nn/model.h"
#include "nn/model_spec.h"

namespace hogbatch {

// The same layers, the first with `rows` rows of weights.
ParameterLayout WithFirstHeight(const ParameterLayout& layout, std::int64_t rows);

class LayerBlocks {
 public:
  // Blocks take layout.floats floats together; what they hold is undefined.
  LayerBlocks(Device& device, const ParameterLayout& layout);

  std::span<const LayerView> views() const { return views_; }

  // Gives the first layer another height: with sparse rows it may hold only those a batch touches.
  // Work queued from now on no longer sees what its block held. A block only grows.
  void SetFirstHeight(std::int64_t rows);

  // Floats of a layer on its way to or from the host: its weights, a gap up to a multiple of 16,
  // its biases. In a flat array of the layout they begin at the layer's weights_at.
  std::int64_t floats(std::size_t layer) const {
    return shapes_[layer].bias_at + shapes_[layer].width;
  }
  // Where biases begin among them.
  std::int64_t bias_at(std::size_t layer) const { return shapes_[layer].bias_at; }
  // Queue a copy of a whole layer.
  void Upload(std::size_t layer, std::span<const float> from);
  void Download(std::size_t layer, std::span<float> to);

 private:
  void Place(std::size_t layer, std::int64_t rows);

  Device& device_;
  std::vector<LayerShape> shapes_;  // offsets count from the start of the layer's own block
  std::vector<Buffer> blocks_;
  std::vector<LayerView> views_;
};

}  // namespace hogbatch
