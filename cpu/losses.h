// The three losses, a row at a time; device.h says what they compute. An empty `gradient` is not
// written.
#pragma once

#include <vector>

#include "device/device.h"

namespace hogbatch::cpu {

void SoftmaxLoss(const Tensor& outputs, const Targets& targets, const Tensor& class_weights,
                 float scale, const Tensor& losses, const Tensor& gradient);

// `marks` is scratch, as wide as the outputs afterwards.
void SigmoidLoss(const Tensor& outputs, const Targets& targets, const Tensor& class_weights,
                 float scale, const Tensor& losses, const Tensor& gradient,
                 std::vector<float>& marks);

void SquaredLoss(const Tensor& outputs, const Targets& targets, float scale, const Tensor& losses,
                 const Tensor& gradient);

}  // namespace hogbatch::cpu
