// The loops behind MultiplyDots, for vectors of any width.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "cpu/product.h"

namespace hogbatch::cpu {

// Sums of a tile: 16 of them with the 32 registers of AVX-512, else 8.
constexpr int kDotRows = 4;  // of a
template <int kWidth>
constexpr int kDotCols = kWidth >= 16 ? 4 : 2;  // rows of b

template <int kWidth, int kRows, int kCols>
[[gnu::always_inline]] inline void DotTile(const Dots& p, const float* a, const float* b,
                                           float* c) {
  using V = typename Vector<kWidth>::Type;
  const bool shared = p.shared == Shared::kB;
  V sums[kRows][kCols] = {};
  std::int64_t d = 0;
  for (; d + kWidth <= p.depth; d += kWidth) {
    V row[kCols];
#pragma GCC unroll 4
    for (int j = 0; j < kCols; ++j) row[j] = Load<kWidth>(b + j * p.b_row + d, shared);
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i) {
      const V x = Load<kWidth>(a + i * p.a_row + d, false);
#pragma GCC unroll 4
      for (int j = 0; j < kCols; ++j) sums[i][j] += x * row[j];
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kCols; ++j) {
      float sum = Sum<kWidth>(sums[i][j]);
      for (std::int64_t rest = d; rest < p.depth; ++rest) {
        sum += a[i * p.a_row + rest] * LoadFloat(b + j * p.b_row + rest, shared);
      }
      c[i * p.c_row + j] = sum;
    }
  }
}

// The tiles of the `rows` of a that are left, at most kRows.
template <int kWidth, int kCols, int kRows = kDotRows>
[[gnu::always_inline]] inline void DotRows(std::int64_t rows, const Dots& p, const float* a,
                                           const float* b, float* c) {
  if constexpr (kRows > 1) {
    if (rows < kRows) return DotRows<kWidth, kCols, kRows - 1>(rows, p, a, b, c);
  }
  DotTile<kWidth, kRows, kCols>(p, a, b, c);
}

// Rows of b outside: each is read once from afar, and a stays near.
template <int kWidth>
[[gnu::always_inline]] inline void MultiplyDotTiles(const Dots& p) {
  constexpr int kCols = kDotCols<kWidth>;
  const auto all_rows = [&](auto cols, std::int64_t j) __attribute__((always_inline)) {
    for (std::int64_t i = 0; i < p.a_rows; i += kDotRows) {
      DotRows<kWidth, decltype(cols)::value>(p.a_rows - i, p, p.a + i * p.a_row, p.b + j * p.b_row,
                                             p.c + i * p.c_row + j);
    }
  };
  std::int64_t j = 0;
  for (; j + kCols <= p.b_rows; j += kCols) all_rows(std::integral_constant<int, kCols>{}, j);
  for (; j < p.b_rows; ++j) all_rows(std::integral_constant<int, 1>{}, j);
}

}  // namespace hogbatch::cpu
