#include "cpu/losses.h"

#include <algorithm>
#include <cmath>

#include "cpu/simd.h"

namespace hogbatch::cpu {
namespace {

// Losses come as a vector (one row) or as a column.
float& LossOf(const Tensor& losses, std::int64_t row) {
  return losses.host()[losses.rows == 1 ? row : row * losses.stride];
}

float* RowOf(const Tensor& t, std::int64_t row) {
  return t.empty() ? nullptr : t.host() + row * t.stride;
}

float WeightOf(const Tensor& class_weights, std::int32_t label) {
  return class_weights.empty() ? 1.0f : class_weights.host()[label];
}

// log(1 + e^x), without overflow.
[[gnu::always_inline]] inline float Softplus(float x) {
  const float positive = x < 0 ? 0.0f : x;
  return positive + Log1p(Exp(x < 0 ? x : -x));
}

}  // namespace

// The sum of e^(o - top). The loss is its logarithm minus (o[target] - top).
HOGBATCH_CLONES float SumExp(const float* o, std::int64_t n, float top) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < n; ++i) sum += Exp(o[i] - top);
  return sum;
}

HOGBATCH_CLONES float Largest(const float* o, std::int64_t n) {
  float top = o[0];
#pragma omp simd reduction(max : top)
  for (std::int64_t i = 0; i < n; ++i) top = o[i] > top ? o[i] : top;
  return top;
}

HOGBATCH_CLONES void SoftmaxGradient(const float* __restrict o, std::int64_t n, float top,
                                     float factor, float* __restrict gradient) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) gradient[i] = factor * Exp(o[i] - top);
}

void SoftmaxLoss(const Tensor& outputs, const Targets& targets, const Tensor& class_weights,
                 float scale, const Tensor& losses, const Tensor& gradient) {
  for (std::int64_t r = 0; r < outputs.rows; ++r) {
    const float* o = RowOf(outputs, r);
    const std::int32_t target = targets.classes.host()[r];
    Check(target >= 0 && target < outputs.cols, "a class is not among the outputs");
    const float top = Largest(o, outputs.cols);
    const float sum = SumExp(o, outputs.cols, top);
    const float weight = WeightOf(class_weights, target);
    LossOf(losses, r) = weight * (std::log(sum) - (o[target] - top));
    if (float* g = RowOf(gradient, r)) {
      SoftmaxGradient(o, outputs.cols, top, weight * scale / sum, g);
      g[target] -= weight * scale;
    }
  }
}

// marks: -1 for an output that should be 0, else the weight of one that should be 1. They are
// overwritten with the gradient.
HOGBATCH_CLONES float SigmoidRow(const float* __restrict o, float* __restrict marks, std::int64_t n,
                                 float factor) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < n; ++i) {
    const bool negative = marks[i] < 0;
    const float weight = negative ? 1.0f : marks[i];
    const float toward = negative ? o[i] : -o[i];  // the loss grows with this
    sum += weight * Softplus(toward);
    marks[i] = (negative ? factor : -factor) * weight * Sigmoid(toward);
  }
  return sum;
}

void SigmoidLoss(const Tensor& outputs, const Targets& targets, const Tensor& class_weights,
                 float scale, const Tensor& losses, const Tensor& gradient, Scratch& scratch) {
  const std::int64_t n = outputs.cols;
  const float mean = 1.0f / static_cast<float>(n);
  const std::int64_t* offsets = targets.label_offsets.host();
  float* const unwanted = gradient.empty() ? scratch.Get(n) : nullptr;
  for (std::int64_t r = 0; r < outputs.rows; ++r) {
    float* row = gradient.empty() ? unwanted : RowOf(gradient, r);
    std::fill_n(row, n, -1.0f);
    for (std::int64_t i = offsets[r]; i < offsets[r + 1]; ++i) {
      const std::int32_t label = targets.labels.host()[i];
      Check(label >= 0 && label < n, "a label is not among the outputs");
      row[label] = WeightOf(class_weights, label);
    }
    LossOf(losses, r) = mean * SigmoidRow(RowOf(outputs, r), row, n, scale * mean);
  }
}

HOGBATCH_CLONES float SquaredRow(const float* __restrict o, const float* __restrict values,
                                 std::int64_t n, float factor, float* __restrict gradient) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < n; ++i) {
    const float difference = o[i] - values[i];
    sum += difference * difference;
    gradient[i] = factor * difference;
  }
  return sum;
}

void SquaredLoss(const Tensor& outputs, const Targets& targets, float scale, const Tensor& losses,
                 const Tensor& gradient, Scratch& scratch) {
  const std::int64_t n = outputs.cols;
  const float mean = 1.0f / static_cast<float>(n);
  float* const unwanted = gradient.empty() ? scratch.Get(n) : nullptr;
  for (std::int64_t r = 0; r < outputs.rows; ++r) {
    float* g = gradient.empty() ? unwanted : RowOf(gradient, r);
    LossOf(losses, r) =
        mean * SquaredRow(RowOf(outputs, r), targets.values.host() + r * n, n, 2 * scale * mean, g);
  }
}

}  // namespace hogbatch::cpu
