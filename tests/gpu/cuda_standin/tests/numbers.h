// Matrices for the tests of the libraries' entry points.
#pragma once

#include <cublas_v2.h>

#include <algorithm>
#include <vector>

#include "tests/gpu/cuda_standin/tests/fixture.h"

namespace hogbatch::standin {

// Column-major, as the libraries count.
struct Numbers {
  int rows, cols, leading;
  std::vector<float> values;

  Numbers(int r, int c, int ld) : rows(r), cols(c), leading(ld), values(ld * c) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>((i * 37 + 11) % 101) / 50 - 1;
    }
  }
  float At(int r, int c) const { return values[c * leading + r]; }
  float* OnDevice() const {
    float* block = Allocate<float>(values.size());
    float* pinned = AllocatePinned<float>(values.size());
    std::ranges::copy(values, pinned);
    const cudaStream_t stream = MakeStream();
    Upload(block, pinned, values.size(), stream);
    cudaStreamSynchronize(stream);
    return block;
  }
};

// alpha · op(a) · op(b) + beta · c, and what lies between the columns of c untouched.
inline void ExpectProduct(const std::vector<float>& actual, const Numbers& a,
                          cublasOperation_t op_a, const Numbers& b, cublasOperation_t op_b,
                          float alpha, float beta, const Numbers& c, int inner) {
  for (int j = 0; j < c.cols; ++j) {
    for (int i = 0; i < c.leading; ++i) {
      double sum = 0;
      for (int p = 0; p < inner; ++p) {
        sum += i >= c.rows ? 0
                           : double{op_a == CUBLAS_OP_N ? a.At(i, p) : a.At(p, i)} *
                                 (op_b == CUBLAS_OP_N ? b.At(p, j) : b.At(j, p));
      }
      const double expected = i < c.rows ? alpha * sum + beta * c.At(i, j) : c.At(i, j);
      ASSERT_NEAR(actual[j * c.leading + i], expected, 1e-4) << "at " << i << ", " << j;
    }
  }
}

}  // namespace hogbatch::standin
