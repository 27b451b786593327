// The update of a dense layer's weights: c = keep · c + scale · aᵀ · b, added in place.
//
// oneDNN has this product too (dnnl_sgemm with beta 1), but where its left side is transposed and
// the depth is a batch it was measured at 42-55 GFLOP/s on an AVX2 core that does 66-80 in this
// file (512 x 512 weights out of the second cache, 32 to 1024 rows, one thread or two on the same
// weights); at 16 rows the two are level, at one row this is almost twice as fast. Making the
// gradient in private memory with oneDNN and adding it tile by tile was slower throughout (35-48).
#pragma once

#include <cstdint>

#include "cpu/scratch.h"

namespace hogbatch::cpu {

struct OuterProduct {
  std::int64_t depth, rows, cols;  // a is depth x rows, b depth x cols, c rows x cols
  const float* a;
  std::int64_t a_stride;
  const float* b;
  std::int64_t b_stride;
  float scale;
  float keep;  // 0: c may hold anything before
  float* c;    // may be shared weights: between reading and writing an element nothing is computed
  std::int64_t c_stride;
  // Where in c to begin, in [0, 1). Cores that update the same weights at the same time in the same
  // order take every line from each other: two workers on 6 x 512 layers measured 0.7-1.5 times one
  // at one row per update and 1.4-1.9 at 16; from places of their own it is 1.5-1.6 and 1.9-2.0.
  double begin = 0;
};

void AddOuterProduct(const OuterProduct& product, Scratch& scratch);

}  // namespace hogbatch::cpu
