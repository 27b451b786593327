#include "cpu/steps.h"

#include <algorithm>
#include <cmath>

#include "cpu/simd.h"

namespace hogbatch::cpu {
namespace {

// The factors of one row's step. They differ from row to row only if updates skipped rows.
struct MomentumRow {
  float learning_rate;
  float momentum;  // of the velocity before this step
  float keep;      // of the weights
  float catch_up;  // of the velocity: what skipped updates would have subtracted from the weights
};

// With gradient 0 each of `skipped` updates would have done v = m·v, w = keep·w - learning_rate·v.
// All of them together: v = m^s·v, w = keep^s·w - learning_rate·v·Σ keep^(s-k)·m^k, a geometric
// sum. This step's own keep and momentum come on top.
MomentumRow CatchUp(const MomentumStep& step, std::int32_t skipped) {
  if (skipped == 0) return {step.learning_rate, step.momentum, step.keep, 0};
  const double m = step.momentum, keep = step.keep;
  const double m_power = std::pow(m, skipped), keep_power = std::pow(keep, skipped);
  const double sum =
      std::abs(keep - m) < 1e-12 ? skipped * m_power : m * (keep_power - m_power) / (keep - m);
  return {step.learning_rate, static_cast<float>(m * m_power),
          static_cast<float>(keep * keep_power),
          static_cast<float>(keep * step.learning_rate * sum)};
}

struct AdamRow {
  AdamStep step;
  float decay1;  // of the moments
  float decay2;
};

// The moments and the weights decay over the skipped updates and this one.
AdamRow CatchUp(const AdamStep& step, std::int32_t skipped) {
  if (skipped == 0) return {step, step.beta1, step.beta2};
  const double power = skipped + 1.0;
  AdamRow row{step, static_cast<float>(std::pow(step.beta1, power)),
              static_cast<float>(std::pow(step.beta2, power))};
  row.step.keep = static_cast<float>(std::pow(step.keep, power));
  return row;
}

// A gradient's row, and the rows of weights and state that it belongs to.
struct RowOfStep {
  std::int64_t gradient;
  std::int64_t weights;
  std::int64_t state;
  std::int32_t skipped;  // updates that did not touch it
};

template <typename F>
void ForEachRow(const Tensor& gradient, const TouchedRows* touched, const Tensor& state,
                const Tensor& w, F step) {
  Check(gradient.cols == w.cols, "a gradient is as wide as its weights");
  const bool alone = gradient.rows == w.rows;  // w holds only the rows of the gradient
  for (std::int64_t i = 0; i < gradient.rows; ++i) {
    const std::int64_t to = touched ? touched->rows.host()[i] : i;
    Check(to >= 0 && (alone || to < w.rows), "a gradient's row is among the weights");
    Check(state.empty() || to < state.rows, "a gradient's row is among the state's");
    step(RowOfStep{i, alone ? i : to, to, touched ? touched->skipped.host()[i] : 0});
  }
}

}  // namespace

HOGBATCH_CLONES void AddScaledRow(const float* __restrict x, float scale, float keep,
                                  std::int64_t n, float* __restrict y) {
  if (keep == 1) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i)
      RacyStore(y + i, RacyLoad(y + i) + scale * RacyLoad(x + i));
  } else if (keep == 0) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) RacyStore(y + i, scale * RacyLoad(x + i));
  } else {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i)
      RacyStore(y + i, keep * RacyLoad(y + i) + scale * RacyLoad(x + i));
  }
}

HOGBATCH_CLONES void MomentumOne(const float* __restrict g, const MomentumRow& s, std::int64_t n,
                                 float* __restrict v, float* __restrict w) {
  const float learning_rate = s.learning_rate, momentum = s.momentum, keep = s.keep,
              catch_up = s.catch_up;
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const float caught_up = keep * RacyLoad(w + i) - catch_up * v[i];
    v[i] = momentum * v[i] + g[i];
    RacyStore(w + i, caught_up - learning_rate * v[i]);
  }
}

HOGBATCH_CLONES void AdamOne(const float* __restrict g, const AdamRow& row, std::int64_t n,
                             float* __restrict mean, float* __restrict square,
                             float* __restrict w) {
  const AdamStep& s = row.step;
  const float learning_rate = s.learning_rate, keep = s.keep, epsilon = s.epsilon;
  const float one_minus_beta1 = 1 - s.beta1, one_minus_beta2 = 1 - s.beta2;
  const float decay1 = row.decay1, decay2 = row.decay2;
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    mean[i] = decay1 * mean[i] + one_minus_beta1 * g[i];
    square[i] = decay2 * square[i] + one_minus_beta2 * g[i] * g[i];
    RacyStore(w + i,
              keep * RacyLoad(w + i) - learning_rate * mean[i] / (std::sqrt(square[i]) + epsilon));
  }
}

void AddScaled(const Tensor& x, float scale, float keep, const Tensor& y) {
  Check(x.rows == y.rows && x.cols == y.cols, "tensors added to each other have one shape");
  for (std::int64_t r = 0; r < y.rows; ++r) {
    AddScaledRow(x.host() + r * x.stride, scale, keep, y.cols, y.host() + r * y.stride);
  }
}

void AddRows(const Tensor& x, const DeviceSpan<const std::int32_t>& rows, float scale,
             const Tensor& y) {
  Check(x.cols == y.cols, "rows added to others are as wide as those");
  Check(rows.size >= x.rows, "every row to add has a place");
  for (std::int64_t i = 0; i < x.rows; ++i) {
    const std::int64_t to = rows.host()[i];
    if (to < 0) continue;
    Check(to < y.rows, "a row is added to one that exists");
    AddScaledRow(x.host() + i * x.stride, scale, 1, y.cols, y.host() + to * y.stride);
  }
}

void ScaleRows(const DeviceSpan<const float>& factors, const Tensor& y) {
  Check(factors.size >= y.rows, "every row has its factor");
  for (std::int64_t r = 0; r < y.rows; ++r) {
    float* row = y.host() + r * y.stride;
    for (std::int64_t c = 0; c < y.cols; ++c) row[c] *= factors.host()[r];
  }
}

void ScaleLanes(const DeviceSpan<const float>& factors, const Tensor& y) {
  Check(factors.size > 0 && y.cols % factors.size == 0, "lanes have equally many columns");
  const std::int64_t width = y.cols / factors.size;
  for (std::int64_t r = 0; r < y.rows; ++r) {
    float* to = y.host() + r * y.stride;
    for (const float factor : factors.host_span()) {
      for (std::int64_t c = 0; c < width; ++c, ++to) *to = factor == 0 ? 0 : factor * *to;
    }
  }
}

void Fill(const Tensor& y, float value) {
  for (std::int64_t r = 0; r < y.rows; ++r) {
    float* row = y.host() + r * y.stride;
    for (std::int64_t i = 0; i < y.cols; ++i) RacyStore(row + i, value);
  }
}

HOGBATCH_CLONES void CopyScaled(const Tensor& from, float scale, float* __restrict to,
                                std::int64_t stride) {
  const std::int64_t n = from.cols;
  for (std::int64_t r = 0; r < from.rows; ++r, to += stride) {
    const float* const row = from.host() + r * from.stride;
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) to[i] = scale * row[i];
    std::fill(to + n, to + stride, 0.0f);
  }
}

namespace {

// Adds the sums of n columns, at most kMost of them. With n constant they stay in registers.
constexpr std::int64_t kMostSums = 64;
[[gnu::always_inline]] inline void AddSums(const float* first, std::int64_t stride,
                                           std::int64_t rows, std::int64_t n, float scale,
                                           float keep, float* __restrict y) {
  float sums[kMostSums] = {};
  for (std::int64_t r = 0; r < rows; ++r) {
    const float* const row = first + r * stride;
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) sums[i] += row[i];
  }
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const float before = keep == 0 ? 0.0f : RacyLoad(y + i);
    RacyStore(y + i, before + scale * sums[i]);
  }
}

}  // namespace

HOGBATCH_CLONES void AddColumnSums(const Tensor& dy, float scale, float keep, const Tensor& y) {
  if (y.empty()) return;
  const float* const from = dy.host();
  float* const to = y.host();
  std::int64_t c = 0;
  for (; c + kMostSums <= dy.cols; c += kMostSums) {
    AddSums(from + c, dy.stride, dy.rows, kMostSums, scale, keep, to + c);
  }
  AddSums(from + c, dy.stride, dy.rows, dy.cols - c, scale, keep, to + c);
}

namespace {

// Columns [first, first + count) of a row.
struct Columns {
  std::int64_t first, count;
};

void MoveRow(const Tensor& gradient, const RowOfStep& row, Columns columns,
             const MomentumStep& step, const Tensor& velocity, const Tensor& w) {
  const float* g = gradient.host() + row.gradient * gradient.stride + columns.first;
  float* const weights = w.host() + row.weights * w.stride + columns.first;
  const MomentumRow s = CatchUp(step, row.skipped);
  if (velocity.empty()) return AddScaledRow(g, -s.learning_rate, s.keep, columns.count, weights);
  MomentumOne(g, s, columns.count, velocity.host() + row.state * velocity.stride + columns.first,
              weights);
}

void MoveRow(const Tensor& gradient, const RowOfStep& row, Columns columns, const AdamStep& step,
             const Tensor& mean, const Tensor& square, const Tensor& w) {
  AdamOne(gradient.host() + row.gradient * gradient.stride + columns.first,
          CatchUp(step, row.skipped), columns.count,
          mean.host() + row.state * mean.stride + columns.first,
          square.host() + row.state * square.stride + columns.first,
          w.host() + row.weights * w.stride + columns.first);
}

// Calls move(columns, step) for each lane that has columns of a row of the state.
template <typename Step, typename F>
void ForLanesOf(const LaneSteps<Step>& lanes, std::int64_t row, std::int64_t cols, F move) {
  for (std::int64_t c = 0; c < cols; c += lanes.cols) {
    const std::int64_t lane = row / lanes.rows + c / lanes.cols;
    Check(lane < lanes.steps.size, "every lane has its step");
    move(Columns{c, std::min(lanes.cols, cols - c)}, lanes.steps.host()[lane]);
  }
}

}  // namespace

void Momentum(const Tensor& gradient, const MomentumStep& step, const TouchedRows* touched,
              const Tensor& velocity, const Tensor& w) {
  Check(!velocity.empty() || step.momentum == 0, "momentum needs a velocity");
  ForEachRow(gradient, touched, velocity, w,
             [&](const RowOfStep& row) { MoveRow(gradient, row, {0, w.cols}, step, velocity, w); });
}

void Adam(const Tensor& gradient, const AdamStep& step, const TouchedRows* touched,
          const Tensor& mean, const Tensor& square, const Tensor& w) {
  ForEachRow(gradient, touched, mean, w, [&](const RowOfStep& row) {
    MoveRow(gradient, row, {0, w.cols}, step, mean, square, w);
  });
}

void MomentumOfLanes(const Tensor& gradient, const LaneSteps<MomentumStep>& lanes,
                     const TouchedRows* touched, const Tensor& velocity, const Tensor& w) {
  ForEachRow(gradient, touched, velocity, w, [&](const RowOfStep& row) {
    ForLanesOf(lanes, row.state, w.cols, [&](Columns columns, const MomentumStep& step) {
      Check(!velocity.empty() || step.momentum == 0, "momentum needs a velocity");
      MoveRow(gradient, row, columns, step, velocity, w);
    });
  });
}

void AdamOfLanes(const Tensor& gradient, const LaneSteps<AdamStep>& lanes,
                 const TouchedRows* touched, const Tensor& mean, const Tensor& square,
                 const Tensor& w) {
  ForEachRow(gradient, touched, mean, w, [&](const RowOfStep& row) {
    ForLanesOf(lanes, row.state, w.cols, [&](Columns columns, const AdamStep& step) {
      MoveRow(gradient, row, columns, step, mean, square, w);
    });
  });
}

}  // namespace hogbatch::cpu
