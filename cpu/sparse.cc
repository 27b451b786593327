#include "cpu/sparse.h"

#include <algorithm>

#include "cpu/simd.h"
#include "cpu/steps.h"

namespace hogbatch::cpu {

HOGBATCH_CLONES void AddFourRows(const float* const w[4], const float v[4], std::int64_t n,
                                 float* __restrict y) {
  const float* w0 = w[0];
  const float* w1 = w[1];
  const float* w2 = w[2];
  const float* w3 = w[3];
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    y[i] += v[0] * RacyLoad(w0 + i) + v[1] * RacyLoad(w1 + i) + v[2] * RacyLoad(w2 + i) +
            v[3] * RacyLoad(w3 + i);
  }
}

HOGBATCH_CLONES void AddOneRow(const float* __restrict w, float v, std::int64_t n,
                               float* __restrict y) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) y[i] += v * RacyLoad(w + i);
}

void MultiplySparse(const CsrTensor& x, const Tensor& w, const Tensor& y) {
  Check(x.cols <= w.rows && x.rows == y.rows && y.cols == w.cols, "sparse x · w = y in shape");
  const std::int32_t* columns = x.columns.host();
  const float* values = x.values.host();
  for (std::int64_t r = 0; r < x.rows; ++r) {
    float* row = y.host() + r * y.stride;
    std::fill_n(row, y.cols, 0.0f);
    std::int64_t i = x.offsets.host()[r];
    const std::int64_t end = x.offsets.host()[r + 1];
    for (; i + 4 <= end; i += 4) {
      const float* rows[4];
      for (int k = 0; k < 4; ++k) rows[k] = w.host() + columns[i + k] * w.stride;
      AddFourRows(rows, values + i, w.cols, row);
    }
    for (; i < end; ++i) AddOneRow(w.host() + columns[i] * w.stride, values[i], w.cols, row);
  }
}

void AddSparseOuterProduct(const CsrTensor& x, const Tensor& dy, float scale, const Tensor& dw) {
  Check(x.cols <= dw.rows && x.rows == dy.rows && dy.cols == dw.cols, "xᵀ · dy = dw in shape");
  for (std::int64_t r = 0; r < x.rows; ++r) {
    for (std::int64_t i = x.offsets.host()[r]; i < x.offsets.host()[r + 1]; ++i) {
      AddScaledRow(dy.host() + r * dy.stride, scale * x.values.host()[i], 1, dw.cols,
                   dw.host() + x.columns.host()[i] * dw.stride);
    }
  }
}

}  // namespace hogbatch::cpu
