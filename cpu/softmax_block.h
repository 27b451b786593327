// Softmax with few outputs, which would leave most of a vector empty. Vectors go across rows and
// lanes instead.
#pragma once

#include <cstdint>

namespace hogbatch::cpu {

// Element i of all arrays belongs to one row of one lane.
struct SoftmaxBlock {
  static constexpr std::int64_t kMostOutputs = 16;
  static constexpr std::int64_t kSize = 64;

  alignas(64) float outputs[kMostOutputs][kSize] = {};  // overwritten with the gradient
  alignas(64) float weights[kSize] = {};                // of the targets' classes
  alignas(64) std::int32_t targets[kSize] = {};         // less than the number of outputs
  alignas(64) float losses[kSize] = {};
};

// Losses and gradient of the first `used` elements. Others are computed as well, for whole vectors.
void ComputeSoftmax(SoftmaxBlock& block, std::int64_t outputs, std::int64_t used, float scale);

}  // namespace hogbatch::cpu
