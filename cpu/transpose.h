// Transposing in blocks of 4 x 4, which every x86-64 has instructions for.
#pragma once

#include <cstdint>

#include "cpu/vectors.h"

namespace hogbatch::cpu {

inline void TransposeBlock(const float* from, std::int64_t from_stride, float* to,
                           std::int64_t to_stride) {
  using V = Vector<4>::Type;
  const V r0 = Load<4>(from, false), r1 = Load<4>(from + from_stride, false);
  const V r2 = Load<4>(from + 2 * from_stride, false), r3 = Load<4>(from + 3 * from_stride, false);
  const V low01 = __builtin_shufflevector(r0, r1, 0, 4, 1, 5);
  const V high01 = __builtin_shufflevector(r0, r1, 2, 6, 3, 7);
  const V low23 = __builtin_shufflevector(r2, r3, 0, 4, 1, 5);
  const V high23 = __builtin_shufflevector(r2, r3, 2, 6, 3, 7);
  Store<4>(__builtin_shufflevector(low01, low23, 0, 1, 4, 5), to);
  Store<4>(__builtin_shufflevector(low01, low23, 2, 3, 6, 7), to + to_stride);
  Store<4>(__builtin_shufflevector(high01, high23, 0, 1, 4, 5), to + 2 * to_stride);
  Store<4>(__builtin_shufflevector(high01, high23, 2, 3, 6, 7), to + 3 * to_stride);
}

// to(c, r) = from(r, c), in private memory.
inline void Transpose(const float* from, std::int64_t from_stride, std::int64_t rows,
                      std::int64_t cols, float* to, std::int64_t to_stride) {
  for (std::int64_t c = 0; c < cols; c += 4) {
    for (std::int64_t r = 0; r < rows; r += 4) {
      const float* block = from + r * from_stride + c;
      float* target = to + c * to_stride + r;
      if (r + 4 <= rows && c + 4 <= cols) {
        TransposeBlock(block, from_stride, target, to_stride);
        continue;
      }
      for (std::int64_t i = 0; i < 4 && r + i < rows; ++i) {
        for (std::int64_t j = 0; j < 4 && c + j < cols; ++j) {
          target[j * to_stride + i] = block[i * from_stride + j];
        }
      }
    }
  }
}

}  // namespace hogbatch::cpu
