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

template <typename F>
[[gnu::always_inline]] inline void ActivateRow(float* __restrict y, const float* __restrict bias,
                                               std::int64_t n, F f) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) y[i] = f(y[i] + RacyLoad(bias + i));
}

template <typename F>
[[gnu::always_inline]] inline void SlopeRow(float* __restrict dx, const float* __restrict x,
                                            std::int64_t n, F slope) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) dx[i] = slope(x[i], dx[i]);
}

}  // namespace

HOGBATCH_CLONES void ActivateOne(float* y, const float* bias, std::int64_t n, Activation f) {
  switch (f) {
    case Activation::kIdentity:
      return ActivateRow(y, bias, n, [](float v) { return v; });
    case Activation::kSigmoid:
      return ActivateRow(y, bias, n, [](float v) { return Sigmoid(v); });
    case Activation::kTanh:
      return ActivateRow(y, bias, n, [](float v) { return Tanh(v); });
    case Activation::kRelu:
      return ActivateRow(y, bias, n, [](float v) { return v < 0 ? 0.0f : v; });
    case Activation::kGelu:
      return ActivateRow(y, bias, n, [](float v) { return v * GeluGate(v); });
  }
}

HOGBATCH_CLONES void SlopeOne(float* dx, const float* x, std::int64_t n, Activation f) {
  switch (f) {
    case Activation::kIdentity:
      return;
    case Activation::kSigmoid:
      return SlopeRow(dx, x, n, [](float v, float d) { return d * (v * (1 - v)); });
    case Activation::kTanh:
      return SlopeRow(dx, x, n, [](float v, float d) { return d * (1 - v * v); });
    case Activation::kRelu:
      return SlopeRow(dx, x, n, [](float v, float d) { return v <= 0 ? 0.0f : d; });
    case Activation::kGelu:
      return SlopeRow(dx, x, n, [](float v, float d) { return d * GeluSlope(v); });
  }
}

HOGBATCH_CLONES void KeepPre(const float* y, const float* bias, std::int64_t n, float* pre) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) pre[i] = y[i] + RacyLoad(bias + i);
}

void Activate(const Tensor& y, const Tensor& bias, Activation f, const Tensor& pre) {
  for (std::int64_t r = 0; r < y.rows; ++r) {
    float* row = y.host() + r * y.stride;
    if (!pre.empty()) KeepPre(row, bias.host(), y.cols, pre.host() + r * pre.stride);
    ActivateOne(row, bias.host(), y.cols, f);
  }
}

void MultiplySlope(const Tensor& dx, Activation f, const Tensor& x, const Tensor& pre) {
  const Tensor& from = f == Activation::kGelu ? pre : x;
  for (std::int64_t r = 0; r < dx.rows && f != Activation::kIdentity; ++r) {
    SlopeOne(dx.host() + r * dx.stride, from.host() + r * from.stride, dx.cols, f);
  }
}

}  // namespace hogbatch::cpu
