// Element-wise arithmetic on weights: scaled additions and optimiser steps. `w` and `y` may be
// shared weights.
#pragma once

#include "device/device.h"

namespace hogbatch::cpu {

void AddScaled(const Tensor& x, float scale, float keep, const Tensor& y);
void AddRows(const Tensor& x, const DeviceSpan<const std::int32_t>& rows, float scale,
             const Tensor& y);
void ScaleRows(const DeviceSpan<const float>& factors, const Tensor& y);
void ScaleLanes(const DeviceSpan<const float>& factors, const Tensor& y);
void Fill(const Tensor& y, float value);
// to = scale · from, with rows `stride` floats apart; what follows a row is filled with 0.
void CopyScaled(const Tensor& from, float scale, float* to, std::int64_t stride);
// y = (keep == 0 ? 0 : y) + scale · the sum of dy's rows.
void AddColumnSums(const Tensor& dy, float scale, float keep, const Tensor& y);

void Momentum(const Tensor& gradient, const MomentumStep& step, const TouchedRows* touched,
              const Tensor& velocity, const Tensor& w);
void Adam(const Tensor& gradient, const AdamStep& step, const TouchedRows* touched,
          const Tensor& mean, const Tensor& square, const Tensor& w);
void MomentumOfLanes(const Tensor& gradient, const LaneSteps<MomentumStep>& lanes,
                     const TouchedRows* touched, const Tensor& velocity, const Tensor& w);
void AdamOfLanes(const Tensor& gradient, const LaneSteps<AdamStep>& lanes,
                 const TouchedRows* touched, const Tensor& mean, const Tensor& square,
                 const Tensor& w);

// y[0 … n) = keep · y + scale · x. With keep 0 y may hold anything before.
void AddScaledRow(const float* x, float scale, float keep, std::int64_t n, float* y);

}  // namespace hogbatch::cpu
