#include "cpu/sparse.h"

#include <algorithm>

#include "cpu/simd.h"
#include "cpu/steps.h"

namespace hogbatch::cpu {
namespace {

// Fetches the first lines of the row of w that an entry will need; the hardware fetches the rest.
// With 20,958 x 512 weights and 113 entries per row it makes both products 10-25 % faster. Sorting
// the entries of a batch by column, so that each row of w is visited once, cost more than it saved.
void PrefetchRow(const Tensor& w, const CsrTensor& x, std::int64_t entry, std::int64_t end) {
  constexpr std::int64_t kLine = 16, kLines = 8;  // floats, cache lines
  if (entry >= end) return;
  const float* row = w.host() + x.columns.host()[entry] * w.stride;
  const std::int64_t width = std::min(w.cols, kLine * kLines);
  for (std::int64_t i = 0; i < width; i += kLine) __builtin_prefetch(row + i, 1);
}

}  // namespace

HOGBATCH_CLONES void AddFourRows(const float* w0, const float* w1, const float* w2, const float* w3,
                                 const float* v, std::int64_t n, float* __restrict y) {
  const float v0 = v[0], v1 = v[1], v2 = v[2], v3 = v[3];
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    y[i] += v0 * RacyLoad(w0 + i) + v1 * RacyLoad(w1 + i) + v2 * RacyLoad(w2 + i) +
            v3 * RacyLoad(w3 + i);
  }
}

HOGBATCH_CLONES void AddOneRow(const float* __restrict w, float v, std::int64_t n,
                               float* __restrict y) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) y[i] += v * RacyLoad(w + i);
}

void MultiplySparse(const CsrTensor& x, const Tensor& w, const Tensor& y) {
  Check(x.cols <= w.rows && x.rows == y.rows && y.cols == w.cols, "sparse x · w = y in shape");
  const std::int64_t* offsets = x.offsets.host();
  const std::int32_t* columns = x.columns.host();
  const float* values = x.values.host();
  const auto row_of = [&](std::int64_t entry) { return w.host() + columns[entry] * w.stride; };
  for (std::int64_t r = 0; r < x.rows; ++r) {
    float* sums = y.host() + r * y.stride;
    std::fill_n(sums, y.cols, 0.0f);
    std::int64_t i = offsets[r];
    for (; i + 4 <= offsets[r + 1]; i += 4) {
      for (int k = 4; k < 8; ++k) PrefetchRow(w, x, i + k, offsets[x.rows]);
      AddFourRows(row_of(i), row_of(i + 1), row_of(i + 2), row_of(i + 3), values + i, w.cols, sums);
    }
    for (; i < offsets[r + 1]; ++i) AddOneRow(row_of(i), values[i], w.cols, sums);
  }
}

void AddSparseOuterProduct(const CsrTensor& x, const Tensor& dy, float scale, const Tensor& dw) {
  Check(x.cols <= dw.rows && x.rows == dy.rows && dy.cols == dw.cols, "xᵀ · dy = dw in shape");
  const std::int64_t* offsets = x.offsets.host();
  for (std::int64_t r = 0; r < x.rows; ++r) {
    for (std::int64_t i = offsets[r]; i < offsets[r + 1]; ++i) {
      PrefetchRow(dw, x, i + 2, offsets[x.rows]);
      AddScaledRow(dy.host() + r * dy.stride, scale * x.values.host()[i], 1, dw.cols,
                   dw.host() + x.columns.host()[i] * dw.stride);
    }
  }
}

}  // namespace hogbatch::cpu
