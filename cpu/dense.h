// The three products of a dense layer, on one core. Of one lane; layer_parts.h has the others.
#pragma once

#include <cstdint>

#include "cpu/scratch.h"
#include "device/device.h"

namespace hogbatch::cpu {

// y = x · w
void MultiplyForward(const Tensor& x, const Tensor& w, const Tensor& y, Scratch& scratch);

// dx = dy · wᵀ
struct BackwardData {
  Tensor dy, w, dx;
};
// dw = keep · dw + scale · xᵀ · dy, where dw may be shared weights.
struct BackwardWeights {
  Tensor x, dy;
  float scale, keep;
  Tensor dw;
  // Where in dw to begin, in [0, 1). Cores that update the same weights at the same time in the
  // same order take every cache line from each other.
  double begin;
};

void MultiplyBackward(const BackwardData& data, Scratch& scratch);
void UpdateWeights(const BackwardWeights& weights, Scratch& scratch);
// Both, some rows of w at a time: weights are updated while they are still in the cache. dw may be
// w itself: a row is updated after it was used.
void MultiplyAndUpdate(const BackwardData& data, const BackwardWeights& weights, Scratch& scratch);

// An update of w, and then y = x · w, some rows of w at a time. `copy`, if it is not empty,
// receives w as it was multiplied.
void UpdateAndMultiply(const BackwardWeights& update, const Tensor& x, const Tensor& y,
                       const Tensor& copy, Scratch& scratch);
// Whether it is faster than the one after the other.
bool InterleavesUpdate(const Tensor& x, const Tensor& w, const Tensor& y);

}  // namespace hogbatch::cpu
