// Bias, activation and its slope, over rows that lie `stride` floats apart.
#pragma once

#include "device/device.h"

namespace hogbatch::cpu {

// y = f(y + bias); `pre` (may be empty) keeps y + bias.
void Activate(const Tensor& y, const Tensor& bias, Activation f, const Tensor& pre);

// dx = dx ⊙ f'(x), where x = f(pre). Only GELU reads `pre`.
void MultiplySlope(const Tensor& dx, Activation f, const Tensor& x, const Tensor& pre);

}  // namespace hogbatch::cpu
