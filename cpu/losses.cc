#include "cpu/losses.h"

#include <algorithm>
#include <cmath>

#include "cpu/simd.h"
#include "cpu/softmax_block.h"
#include "device/lanes.h"

namespace hogbatch::cpu {
namespace {

// A row's outputs in one lane.
struct RowOfLane {
  std::int64_t row;
  const float* outputs;
  float* gradient;             // null: not wanted
  const float* class_weights;  // null: all 1
  float* loss;

  float WeightOf(std::int32_t label) const { return class_weights ? class_weights[label] : 1.0f; }
};

// Calls work(RowOfLane) for all rows and lanes.
template <typename F>
void ForRowsOfLanes(const Tensor& outputs, const Tensor& class_weights, const Tensor& losses,
                    const Tensor& gradient, const LossLanes& lanes, F work) {
  const std::int64_t apart = class_weights.rows > 1 ? class_weights.stride : 0;
  for (std::int64_t r = 0; r < outputs.rows; ++r) {
    for (std::int64_t i = 0; i < lanes.count; ++i) {
      const std::int64_t at = i * lanes.outputs;
      work(RowOfLane{
          .row = r,
          .outputs = outputs.host() + r * outputs.stride + at,
          .gradient = gradient.empty() ? nullptr : gradient.host() + r * gradient.stride + at,
          .class_weights = class_weights.empty() ? nullptr : class_weights.host() + i * apart,
          .loss = losses.host() + r * lanes.stride + i});
    }
  }
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

namespace {

void CheckClasses(const Targets& targets, std::int64_t rows, std::int64_t outputs) {
  const auto is_output = [=](std::int32_t c) { return c >= 0 && c < outputs; };
  Check(std::all_of(targets.classes.host(), targets.classes.host() + rows, is_output),
        "a class is not among the outputs");
}

// Collects rows of lanes in a block, and computes it when it is full.
class FewOutputs {
 public:
  FewOutputs(std::int64_t outputs, float scale) : outputs_(outputs), scale_(scale) {}

  void Add(const RowOfLane& at, std::int32_t target) {
    for (std::int64_t c = 0; c < outputs_; ++c) block_.outputs[c][used_] = at.outputs[c];
    block_.weights[used_] = at.WeightOf(target);
    block_.targets[used_] = target;
    rows_[used_] = at;
    if (++used_ == SoftmaxBlock::kSize) Compute();
  }

  void Compute() {
    ComputeSoftmax(block_, outputs_, used_, scale_);
    for (std::int64_t i = 0; i < used_; ++i) {
      *rows_[i].loss = block_.losses[i];
      for (std::int64_t c = 0; rows_[i].gradient && c < outputs_; ++c) {
        rows_[i].gradient[c] = block_.outputs[c][i];
      }
    }
    used_ = 0;
  }

 private:
  std::int64_t outputs_;
  float scale_;
  std::int64_t used_ = 0;
  SoftmaxBlock block_;
  RowOfLane rows_[SoftmaxBlock::kSize];
};

}  // namespace

void SoftmaxLoss(const Tensor& outputs, const Targets& targets, const Tensor& class_weights,
                 float scale, const Tensor& losses, const Tensor& gradient) {
  const LossLanes lanes = LanesOfLoss(outputs, losses);
  const std::int64_t n = lanes.outputs;
  const std::int32_t* const classes = targets.classes.host();
  CheckClasses(targets, outputs.rows, n);
  if (n <= SoftmaxBlock::kMostOutputs) {
    FewOutputs few(n, scale);
    ForRowsOfLanes(outputs, class_weights, losses, gradient, lanes,
                   [&](const RowOfLane& at) { few.Add(at, classes[at.row]); });
    return few.Compute();
  }
  ForRowsOfLanes(outputs, class_weights, losses, gradient, lanes, [&](const RowOfLane& at) {
    const std::int32_t target = classes[at.row];
    const float top = Largest(at.outputs, n);
    const float sum = SumExp(at.outputs, n, top);
    const float weight = at.WeightOf(target);
    *at.loss = weight * (std::log(sum) - (at.outputs[target] - top));
    if (!at.gradient) return;
    SoftmaxGradient(at.outputs, n, top, weight * scale / sum, at.gradient);
    at.gradient[target] -= weight * scale;
  });
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
  const LossLanes lanes = LanesOfLoss(outputs, losses);
  const std::int64_t n = lanes.outputs;
  const float mean = 1.0f / static_cast<float>(n);
  const std::int64_t* offsets = targets.label_offsets.host();
  float* const unwanted = gradient.empty() ? scratch.Get(n) : nullptr;
  ForRowsOfLanes(outputs, class_weights, losses, gradient, lanes, [&](const RowOfLane& at) {
    float* const marks = at.gradient ? at.gradient : unwanted;
    std::fill_n(marks, n, -1.0f);
    for (std::int64_t i = offsets[at.row]; i < offsets[at.row + 1]; ++i) {
      const std::int32_t label = targets.labels.host()[i];
      Check(label >= 0 && label < n, "a label is not among the outputs");
      marks[label] = at.WeightOf(label);
    }
    *at.loss = mean * SigmoidRow(at.outputs, marks, n, scale * mean);
  });
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
  const LossLanes lanes = LanesOfLoss(outputs, losses);
  const std::int64_t n = lanes.outputs;
  const float mean = 1.0f / static_cast<float>(n);
  float* const unwanted = gradient.empty() ? scratch.Get(n) : nullptr;
  ForRowsOfLanes(outputs, {}, losses, gradient, lanes, [&](const RowOfLane& at) {
    *at.loss = mean * SquaredRow(at.outputs, targets.values.host() + at.row * n, n,
                                 2 * scale * mean, at.gradient ? at.gradient : unwanted);
  });
}

}  // namespace hogbatch::cpu
