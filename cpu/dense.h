// The three products of a dense layer, on one core.
#pragma once

#include <cstdint>

#include "cpu/scratch.h"
#include "device/device.h"

namespace hogbatch::cpu {

// y = x · w
void MultiplyForward(const Tensor& x, const Tensor& w, const Tensor& y);
// dx = dy · wᵀ
void MultiplyBackward(const Tensor& dy, const Tensor& w, const Tensor& dx);
// dw = keep · dw + scale · xᵀ · dy, where dw may be shared weights.
void UpdateWeights(const Tensor& x, const Tensor& dy, float scale, float keep, double begin,
                   const Tensor& dw, Scratch& scratch);

}  // namespace hogbatch::cpu
