#include "cpu/softmax_block.h"

#include <algorithm>

#include "cpu/simd.h"

namespace hogbatch::cpu {

HOGBATCH_CLONES void ComputeSoftmax(SoftmaxBlock& block, std::int64_t outputs, std::int64_t used,
                                    float scale) {
  constexpr std::int64_t kVector = 16;
  const std::int64_t size = (used + kVector - 1) / kVector * kVector;
  alignas(64) float tops[SoftmaxBlock::kSize], sums[SoftmaxBlock::kSize];
  alignas(64) float wanted[SoftmaxBlock::kSize];
  std::copy_n(block.outputs[0], size, tops);
  std::fill_n(sums, size, 0.0f);
  std::fill_n(wanted, size, 0.0f);
  for (std::int64_t c = 1; c < outputs; ++c) {
    const float* const o = block.outputs[c];
#pragma omp simd
    for (std::int64_t i = 0; i < size; ++i) tops[i] = o[i] > tops[i] ? o[i] : tops[i];
  }
  for (std::int32_t c = 0; c < outputs; ++c) {
    float* const o = block.outputs[c];
#pragma omp simd
    for (std::int64_t i = 0; i < size; ++i) {
      const float below = o[i] - tops[i];
      wanted[i] = block.targets[i] == c ? below : wanted[i];
      o[i] = Exp(below);
      sums[i] += o[i];
    }
  }
#pragma omp simd
  for (std::int64_t i = 0; i < size; ++i) {
    block.losses[i] = block.weights[i] * (Log(sums[i]) - wanted[i]);
    sums[i] = block.weights[i] * scale / sums[i];
  }
  for (std::int32_t c = 0; c < outputs; ++c) {
    float* const o = block.outputs[c];
#pragma omp simd
    for (std::int64_t i = 0; i < size; ++i) {
      o[i] = sums[i] * o[i] - (block.targets[i] == c ? block.weights[i] * scale : 0.0f);
    }
  }
}

}  // namespace hogbatch::cpu
