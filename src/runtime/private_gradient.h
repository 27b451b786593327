// A whole model's gradient in one worker's own memory, for what cannot be written straight into the
// shared weights: optimisers with state, gradients held for a common step, virtual time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device/device.h"
#include "nn/model.h"
#include "nn/optimizer.h"

namespace hogbatch {

class PrivateGradient {
 public:
  PrivateGradient(const ModelSpec& spec, Device& device);

  // Where Model::Backward is to write. For sparse input the first layer has a row for each of
  // `touched`, which must stay where it is as long as layers() is used; else it is empty.
  std::span<const GradientTarget> Targets(std::span<const std::int32_t> touched);

  // What was written.
  const std::vector<LayerGradient>& layers() const { return layers_; }

 private:
  Device& device_;
  bool sparse_input_;
  std::int64_t first_width_;
  Buffer
      first_;  // sparse input: rows of the first layer's gradient, as many as a batch ever needed
  Buffer memory_;  // everything else
  std::vector<LayerGradient> layers_;
  std::vector<GradientTarget> targets_;
};

}  // namespace hogbatch
