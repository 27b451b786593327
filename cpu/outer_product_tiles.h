// The loops behind AddOuterProduct for vectors of any width: a program picks one by the processor
// it finds, a test runs them all.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/racy.h"
#include "cpu/outer_product.h"

namespace hogbatch::cpu {

// Of a tile of c, two vectors wide: twelve sums, two vectors of b and one of a fill 16 registers.
constexpr int kTileRows = 6;
// Of one pass. So deep the panels of a tile stay in the first cache, and so wide all of b's panels
// take half of a second cache of 512 KB.
constexpr std::int64_t kDepth = 128;
constexpr std::int64_t kColumns = 512;
constexpr std::int64_t kWidest = 32;  // panel of b, in floats

// A vector of floats, and the same at any address a float may have.
template <int kLanes>
struct Vector {
  typedef float Type __attribute__((vector_size(kLanes * sizeof(float))));
  typedef float Anywhere
      __attribute__((vector_size(kLanes * sizeof(float)), aligned(sizeof(float)), may_alias));
};

// Rows cut into panels `width` wide, so that what the tile loop reads lies in the order it reads
// it. The last panel is filled up with zeros.
template <int kWidth>
[[gnu::always_inline]] inline void Pack(const float* from, std::int64_t stride, std::int64_t depth,
                                        std::int64_t cols, float* __restrict to) {
  for (std::int64_t first = 0; first < cols; first += kWidth) {
    const std::int64_t n = std::min<std::int64_t>(kWidth, cols - first);
    for (std::int64_t d = 0; d < depth; ++d, to += kWidth) {
      const float* row = from + d * stride + first;
      if (n == kWidth) {
        for (int i = 0; i < kWidth; ++i) to[i] = row[i];
      } else {
        for (std::int64_t i = 0; i < kWidth; ++i) to[i] = i < n ? row[i] : 0.0f;
      }
    }
  }
}

// c's tile from two panels. The sums live in registers until the one addition to c.
template <int kLanes, int kRows>
[[gnu::always_inline]] inline void MultiplyTile(const float* a, const float* b, std::int64_t depth,
                                                std::int64_t cols, float scale, float keep,
                                                float* c, std::int64_t c_stride) {
  using V = typename Vector<kLanes>::Type;
  using Anywhere = typename Vector<kLanes>::Anywhere;
  for (int r = 0; r < kRows; ++r) __builtin_prefetch(c + r * c_stride + 8 * kLanes, 1);
  V sums[kRows][2] = {};
  for (std::int64_t d = 0; d < depth; ++d, a += kTileRows, b += 2 * kLanes) {
    const V b0 = *reinterpret_cast<const Anywhere*>(b);
    const V b1 = *reinterpret_cast<const Anywhere*>(b + kLanes);
    for (int r = 0; r < kRows; ++r) {
      sums[r][0] += a[r] * b0;
      sums[r][1] += a[r] * b1;
    }
  }
#ifndef HOGBATCH_TSAN
  if (cols == 2 * kLanes) {
    for (int r = 0; r < kRows; ++r, c += c_stride) {
      Anywhere* to = reinterpret_cast<Anywhere*>(c);
      to[0] = keep == 0 ? scale * sums[r][0] : keep * to[0] + scale * sums[r][0];
      to[1] = keep == 0 ? scale * sums[r][1] : keep * to[1] + scale * sums[r][1];
    }
    return;
  }
#endif
  // By way of memory: indexing the sums themselves would keep them out of registers above.
  alignas(64) float tile[kRows][2 * kLanes];
  for (int r = 0; r < kRows; ++r) {
    *reinterpret_cast<Anywhere*>(tile[r]) = sums[r][0];
    *reinterpret_cast<Anywhere*>(tile[r] + kLanes) = sums[r][1];
  }
  for (int r = 0; r < kRows; ++r, c += c_stride) {
    for (std::int64_t i = 0; i < cols; ++i) {
      const float before = keep == 0 ? 0.0f : keep * RacyLoad(c + i);
      RacyStore(c + i, before + scale * tile[r][i]);
    }
  }
}

// The tile loop for the `rows` that are left, at most kRows.
template <int kLanes, int kRows = kTileRows>
[[gnu::always_inline]] inline void MultiplyRows(std::int64_t rows, const float* a, const float* b,
                                                const OuterProduct& p, std::int64_t cols,
                                                float* c) {
  if constexpr (kRows > 1) {
    if (rows < kRows) return MultiplyRows<kLanes, kRows - 1>(rows, a, b, p, cols, c);
  }
  MultiplyTile<kLanes, kRows>(a, b, p.depth, cols, p.scale, p.keep, c, p.c_stride);
}

// Rows of c outside, columns inside: shared weights are walked in memory's order.
template <int kLanes>
[[gnu::always_inline]] inline void MultiplyPanels(const OuterProduct& p, const float* a,
                                                  const float* b) {
  constexpr int kWidth = 2 * kLanes;
  const std::int64_t tiles = (p.rows + kTileRows - 1) / kTileRows;
  const auto first = static_cast<std::int64_t>(p.begin * static_cast<double>(tiles));
  for (std::int64_t i = 0; i < tiles; ++i) {
    const std::int64_t tile = first + i < tiles ? first + i : first + i - tiles;
    const std::int64_t r = tile * kTileRows;
    for (std::int64_t j = 0; j < p.cols; j += kWidth) {
      MultiplyRows<kLanes>(p.rows - r, a + r * p.depth, b + j * p.depth, p,
                           std::min<std::int64_t>(kWidth, p.cols - j), p.c + r * p.c_stride + j);
    }
  }
}

inline std::int64_t RoundUp(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }

// A product of at most kDepth and kColumns.
template <int kLanes>
[[gnu::always_inline]] inline void AddBlock(const OuterProduct& p, float* scratch) {
  float* packed_b = scratch;
  float* packed_a = scratch + RoundUp(p.cols, kWidest) * p.depth;  // b's panels stay aligned
  Pack<kTileRows>(p.a, p.a_stride, p.depth, p.rows, packed_a);
  Pack<2 * kLanes>(p.b, p.b_stride, p.depth, p.cols, packed_b);
  MultiplyPanels<kLanes>(p, packed_a, packed_b);
}

// Floats of scratch for a product of at most kDepth and kColumns.
inline std::int64_t ScratchFloats(const OuterProduct& product) {
  return (RoundUp(product.rows, kTileRows) + RoundUp(std::min(product.cols, kColumns), kWidest)) *
         std::min(product.depth, kDepth);
}

}  // namespace hogbatch::cpu
