#include "cpu/activations.h"

#include "cpu/simd.h"

namespace hogbatch::cpu {
namespace {

constexpr float kGeluOuter = 1.5957691216f;  // 2 · sqrt(2 / π)
constexpr float kGeluInner = 0.044715f;

// 0.5 · (1 + tanh(u)) is the sigmoid of 2u. Beyond ±60 it is 0 or 1 in float precision. A smaller
// limit than 87 keeps gate · x from becoming denormal, which made the loop three times slower.
[[gnu::always_inline]] inline float GeluGate(float x) {
  return Sigmoid(kGeluOuter * (x + kGeluInner * x * x * x), 60.0f);
}

[[gnu::always_inline]] inline float GeluSlope(float x) {
  const float gate = GeluGate(x);
  return gate + x * gate * (1 - gate) * kGeluOuter * (1 + 3 * kGeluInner * x * x);
}

// The loops over rows are within the copies for newer processors: rows of a lane are short.
template <typename F>
[[gnu::always_inline]] inline void ActivateRows(const Tensor& y, const float* __restrict bias,
                                                F f) {
  const std::int64_t n = y.cols;
  for (std::int64_t r = 0; r < y.rows; ++r) {
    float* __restrict row = y.host() + r * y.stride;
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) row[i] = f(row[i] + RacyLoad(bias + i));
  }
}

template <typename F>
[[gnu::always_inline]] inline void MultiplyRows(const Tensor& dx, const Tensor& x, F slope) {
  const std::int64_t n = dx.cols;
  for (std::int64_t r = 0; r < dx.rows; ++r) {
    float* __restrict row = dx.host() + r * dx.stride;
    const float* __restrict from = x.host() + r * x.stride;
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) row[i] = slope(from[i], row[i]);
  }
}

}  // namespace

HOGBATCH_CLONES void ActivateAll(const Tensor& y, const float* bias, Activation f) {
  switch (f) {
    case Activation::kIdentity:
      return ActivateRows(y, bias, [](float v) { return v; });
    case Activation::kSigmoid:
      return ActivateRows(y, bias, [](float v) { return Sigmoid(v); });
    case Activation::kTanh:
      return ActivateRows(y, bias, [](float v) { return Tanh(v); });
    case Activation::kRelu:
      return ActivateRows(y, bias, [](float v) { return v < 0 ? 0.0f : v; });
    case Activation::kGelu:
      return ActivateRows(y, bias, [](float v) { return v * GeluGate(v); });
  }
}

HOGBATCH_CLONES void SlopeAll(const Tensor& dx, const Tensor& x, Activation f) {
  switch (f) {
    case Activation::kIdentity:
      return;
    case Activation::kSigmoid:
      return MultiplyRows(dx, x, [](float v, float d) { return d * (v * (1 - v)); });
    case Activation::kTanh:
      return MultiplyRows(dx, x, [](float v, float d) { return d * (1 - v * v); });
    case Activation::kRelu:
      return MultiplyRows(dx, x, [](float v, float d) { return v <= 0 ? 0.0f : d; });
    case Activation::kGelu:
      return MultiplyRows(dx, x, [](float v, float d) { return d * GeluSlope(v); });
  }
}

HOGBATCH_CLONES void KeepPre(const float* y, const float* bias, std::int64_t n, float* pre) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) pre[i] = y[i] + RacyLoad(bias + i);
}

void Activate(const Tensor& y, const Tensor& bias, Activation f, const Tensor& pre) {
  for (std::int64_t r = 0; !pre.empty() && r < y.rows; ++r) {
    KeepPre(y.host() + r * y.stride, bias.host(), y.cols, pre.host() + r * pre.stride);
  }
  ActivateAll(y, bias.host(), f);
}

void MultiplySlope(const Tensor& dx, Activation f, const Tensor& x, const Tensor& pre) {
  SlopeAll(dx, f == Activation::kGelu ? pre : x, f);
}

}  // namespace hogbatch::cpu
