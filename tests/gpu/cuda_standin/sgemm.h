// A product of matrices on one core of the host, by oneDNN. Callers have checked that the matrices
// lie in their blocks.
#pragma once

#include <cstdint>

namespace hogbatch::standin {

// Element (r, c) of a matrix lies at data[r · row_step + c · col_step].
template <typename T>
struct Strided {
  T* data;
  std::int64_t row_step;
  std::int64_t col_step;
};

// c = alpha · a · b + beta · c; c is rows × cols, the sum runs over `inner`. With beta 0 c may hold
// anything before.
struct Sgemm {
  std::int64_t rows = 0, cols = 0, inner = 0;
  float alpha = 1;
  Strided<const float> a = {};
  Strided<const float> b = {};
  float beta = 0;
  Strided<float> c = {};

  void operator()() const;
};

}  // namespace hogbatch::standin
