// The three losses, a row at a time; device.h says what they compute. An empty `gradient` is not
// written.
#pragma once

#include "cpu/scratch.h"
#include "device/device.h"

namespace hogbatch::cpu {

void SoftmaxLoss(const Tensor& outputs, const Targets& targets, const Tensor& class_weights,
                 float scale, const Tensor& losses, const Tensor& gradient);

void SigmoidLoss(const Tensor& outputs, const Targets& targets, const Tensor& class_weights,
                 float scale, const Tensor& losses, const Tensor& gradient, Scratch& scratch);

void SquaredLoss(const Tensor& outputs, const Targets& targets, float scale, const Tensor& losses,
                 const Tensor& gradient, Scratch& scratch);

}  // namespace hogbatch::cpu
