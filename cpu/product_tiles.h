// The loops behind Multiply, for vectors of any width.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu/product.h"

namespace hogbatch::cpu {

// Rows of a tile that is two vectors wide: AVX-512 has 32 registers, others have 16.
template <int kWidth>
constexpr int kTileRows = kWidth >= 16 ? 8 : 6;

// Few rows get wider tiles: enough sums to hide the latency of an addition, and longer runs of b.
template <int kWidth, int kVectors>
constexpr int kMostRows = kVectors == 8   ? 1
                          : kVectors == 4 ? (kWidth >= 16 ? 4 : 2)
                                          : kTileRows<kWidth>;

// Rows that lie a multiple of 4 KB apart share a few places of the L1.
[[gnu::always_inline]] inline bool Collide(std::int64_t stride) { return stride % 1024 == 0; }

// A tile of c, its part of a, and the panel of b.
struct TileAt {
  const float* a;
  const float* b;
  std::int64_t b_depth;
  float* c;
  std::int64_t cols;  // of the tile that exist
};

// Hides where a pointer comes from. Otherwise the compiler keeps a pointer for each row of each
// tile and moves dozens of them, in memory, from tile to tile.
template <typename T>
[[gnu::always_inline]] inline T* Opaque(T* pointer) {
  asm("" : "+r"(pointer));
  return pointer;
}

// Rows of b that are asked for before they are read. They lie far apart, so the processor does not
// see them coming. Rows that collide would evict each other before they are read. With narrower
// vectors the extra instructions cost more than they save.
template <int kWidth>
constexpr std::int64_t kAhead = kWidth >= 16 ? 24 : 0;

template <int kWidth, int kRows, int kVectors>
[[gnu::always_inline]] inline void AddTile(
    const typename Vector<kWidth>::Type (&sums)[kRows][kVectors], const Product& p,
    const TileAt& at) {
  float* c = Opaque(at.c);
#ifndef HOGBATCH_TSAN
  if (at.cols == kVectors * kWidth) {
    const auto put = [&](auto combine) __attribute__((always_inline)) {
      for (int r = 0; r < kRows; ++r) {
        for (int v = 0; v < kVectors; ++v) combine(sums[r][v], c + r * p.c_row + v * kWidth);
      }
    };
    using V = typename Vector<kWidth>::Type;
    const float keep = p.keep;
    if (keep == 1) {
      return put([=](const V& sum, float* to) __attribute__((always_inline)) {
        Store<kWidth>(Load<kWidth>(to, false) + sum, to);
      });
    }
    if (keep == 0) {
      return put([=](const V& sum, float* to)
                     __attribute__((always_inline)) { Store<kWidth>(sum, to); });
    }
    return put([=](const V& sum, float* to) __attribute__((always_inline)) {
      Store<kWidth>(keep * Load<kWidth>(to, false) + sum, to);
    });
  }
#endif
  // By way of memory: indexing the sums themselves would keep them out of registers above.
  alignas(64) float tile[kRows][kVectors * kWidth];
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) Store<kWidth>(sums[r][v], tile[r] + v * kWidth);
  }
  for (int r = 0; r < kRows; ++r, c += p.c_row) {
    for (std::int64_t i = 0; i < at.cols; ++i) {
      const float before = p.keep == 0 ? 0.0f : p.keep * RacyLoad(c + i);
      RacyStore(c + i, before + tile[r][i]);
    }
  }
}

template <int kWidth, int kRows, int kVectors>
[[gnu::always_inline]] inline void MultiplyTile(const Product& p, const TileAt& at) {
  using V = typename Vector<kWidth>::Type;
  const bool a_shared = p.shared == Shared::kA, b_shared = p.shared == Shared::kB;
  const float* a = Opaque(at.a);
  const float* b = Opaque(at.b);
  const std::int64_t ahead = Collide(at.b_depth) ? 0 : kAhead<kWidth> * at.b_depth;
  V sums[kRows][kVectors] = {};
  for (std::int64_t d = 0; d < p.depth; ++d, a += p.a_depth, b += at.b_depth) {
    V row[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) row[v] = Load<kWidth>(b + v * kWidth, b_shared);
    if constexpr (kAhead<kWidth> > 0 && kVectors <= 2) {
      for (int v = 0; v < kVectors; ++v) {
        __builtin_prefetch(b + ahead + v * kWidth);
      }
    }
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const float x = LoadFloat(a + r * p.a_row, a_shared);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) sums[r][v] += x * row[v];
    }
  }
  AddTile<kWidth, kRows, kVectors>(sums, p, at);
}

// The tile loop for the `rows` that are left, at most kRows.
template <int kWidth, int kVectors, int kRows = kMostRows<kWidth, kVectors>>
[[gnu::always_inline]] inline void MultiplyRows(std::int64_t rows, const Product& p,
                                                const TileAt& at) {
  if constexpr (kRows > 1) {
    if (rows < kRows) return MultiplyRows<kWidth, kVectors, kRows - 1>(rows, p, at);
  }
  MultiplyTile<kWidth, kRows, kVectors>(p, at);
}

struct RowSpan {
  std::int64_t begin, end;
};

// A panel of columns, for all rows of the span in groups of nearly equal size.
template <int kWidth, int kVectors>
[[gnu::always_inline]] inline void MultiplyPanel(const Product& p, RowSpan rows, std::int64_t col,
                                                 const float* b, std::int64_t b_depth,
                                                 std::int64_t cols) {
  constexpr int kMost = kMostRows<kWidth, kVectors>;
  const std::int64_t count = rows.end - rows.begin;
  const std::int64_t groups = (count + kMost - 1) / kMost;
  const std::int64_t size = groups > 0 ? (count + groups - 1) / groups : 1;
  for (std::int64_t r = rows.begin; r < rows.end; r += size) {
    MultiplyRows<kWidth, kVectors>(std::min(size, rows.end - r), p,
                                   {.a = p.a + r * p.a_row,
                                    .b = b,
                                    .b_depth = b_depth,
                                    .c = p.c + r * p.c_row + col,
                                    .cols = cols});
  }
}

template <int kWidth, int kVectors>
[[gnu::always_inline]] inline std::int64_t MultiplyPanels(const Product& p, RowSpan rows,
                                                          std::int64_t col) {
  constexpr std::int64_t kPanelWidth = kVectors * kWidth;
  for (; col + kPanelWidth <= p.cols; col += kPanelWidth) {
    MultiplyPanel<kWidth, kVectors>(p, rows, col, p.b + col, p.b_depth, kPanelWidth);
  }
  return col;
}

// All columns of some rows.
template <int kWidth>
[[gnu::always_inline]] inline void MultiplyColumns(const Product& p, RowSpan rows,
                                                   const float* tail) {
  const std::int64_t count = rows.end - rows.begin;
  std::int64_t col = 0;
  if (count == 1) col = MultiplyPanels<kWidth, 8>(p, rows, col);
  const bool low = kWidth >= 16 && Collide(p.c_row);
  if (count <= 2 || low) col = MultiplyPanels<kWidth, 4>(p, rows, col);
  col = MultiplyPanels<kWidth, 2>(p, rows, col);
  for (; col < p.cols; col += kWidth) {
    const bool is_whole = col + kWidth <= p.cols;
    MultiplyPanel<kWidth, 1>(p, rows, col, is_whole ? p.b + col : tail,
                             is_whole ? p.b_depth : kWidth,
                             std::min<std::int64_t>(kWidth, p.cols - col));
  }
}

// The columns that do not fill a vector, filled up with zeros: no load reaches past a row of b.
template <int kWidth>
[[gnu::always_inline]] inline void CopyTail(const Product& p, float* __restrict tail) {
  const std::int64_t n = p.cols % kWidth;
  const float* from = p.b + p.cols - n;
  for (std::int64_t d = 0; n > 0 && d < p.depth; ++d, from += p.b_depth) {
    for (std::int64_t i = 0; i < kWidth; ++i) {
      tail[d * kWidth + i] = i < n ? LoadFloat(from + i, p.shared == Shared::kB) : 0.0f;
    }
  }
}

template <int kWidth>
[[gnu::always_inline]] inline void MultiplyBlock(const Product& p, float* tail) {
  CopyTail<kWidth>(p, tail);
  const std::int64_t step = p.outer_loop == OuterLoop::kRows ? kTileRows<kWidth> : p.rows;
  for (std::int64_t r = 0; r < p.rows; r += step) {
    MultiplyColumns<kWidth>(p, {r, std::min(r + step, p.rows)}, tail);
  }
}

}  // namespace hogbatch::cpu
