// The gradient of a whole model in a worker's own memory on its device. It is needed where
// gradients cannot be written straight into the weights: for optimisers with state, for synchronous
// rounds, and for workers that write at Commit.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device/device.h"
#include "nn/layer_blocks.h"
#include "nn/model.h"
#include "nn/optimizer.h"

namespace hogbatch {

class PrivateGradient {
 public:
  PrivateGradient(const ModelSpec& spec, Device& device);

  // Where Model::Backward is to write. For sparse input the first layer has one row for each of
  // `touched`, and at least one, so that no call of a device gets an empty tensor. `touched` must
  // not change while layers() is used. For dense input both arguments are empty.
  std::span<const GradientTarget> Targets(std::span<const std::int32_t> touched,
                                          DeviceSpan<const std::int32_t> touched_on_device);

  // What was written.
  const std::vector<LayerGradient>& layers() const { return layers_; }

 private:
  bool sparse_input_;
  LayerBlocks blocks_;
  std::vector<LayerGradient> layers_;
  std::vector<GradientTarget> targets_;
};

}  // namespace hogbatch
