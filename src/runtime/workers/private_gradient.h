// A whole model's gradient in one worker's own memory on its device, for what cannot be written
// straight into the weights: optimisers with state, gradients held for a common step, virtual time.
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

  // Where Model::Backward is to write. For sparse input the first layer has a row for each of
  // `touched` (one at least, so that no call of a device is about nothing), which must stay where
  // they are as long as layers() is used; else both are empty.
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
