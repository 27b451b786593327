// Compiled with optimisation and without sanitizers in every build: callers have checked that the
// matrices lie in their blocks.
#include "tests/cuda_standin/sgemm.h"

#include <algorithm>
#include <vector>

namespace hogbatch::standin {
namespace {

constexpr std::int64_t kTileRows = 8;
constexpr std::int64_t kTileCols = 4;
constexpr std::int64_t kDepth = 256;  // of the sum: so much of a tile's rows stays in cache

// A strip of `width` rows of a matrix, as far as there are so many, one step of the sum after the
// other; zeros where there is no row.
void Pack(const Strided<const float>& from, std::int64_t rows, std::int64_t depth,
          std::int64_t width, float* to) {
  for (std::int64_t p = 0; p < depth; ++p) {
    for (std::int64_t r = 0; r < width; ++r) {
      *to++ = r < rows ? from.data[r * from.row_step + p * from.col_step] : 0.0f;
    }
  }
}

struct Tile {
  float sums[kTileCols][kTileRows] = {};
};

void Multiply(const float* a, const float* b, std::int64_t depth, Tile& tile) {
  for (std::int64_t p = 0; p < depth; ++p, a += kTileRows, b += kTileCols) {
    for (std::int64_t c = 0; c < kTileCols; ++c) {
      for (std::int64_t r = 0; r < kTileRows; ++r) tile.sums[c][r] += a[r] * b[c];
    }
  }
}

void Scale(const Sgemm& product) {
  const Strided<float>& c = product.c;
  for (std::int64_t j = 0; j < product.cols; ++j) {
    for (std::int64_t i = 0; i < product.rows; ++i) {
      float& element = c.data[i * c.row_step + j * c.col_step];
      element = product.beta == 0 ? 0 : product.beta * element;
    }
  }
}

}  // namespace

void Sgemm::operator()() const {
  Scale(*this);
  const std::int64_t strips = (cols + kTileCols - 1) / kTileCols;
  std::vector<float> packed_a(kTileRows * kDepth);
  std::vector<float> packed_b(strips * kTileCols * kDepth);
  for (std::int64_t p = 0; p < inner; p += kDepth) {
    const std::int64_t depth = std::min(kDepth, inner - p);
    for (std::int64_t s = 0; s < strips; ++s) {
      const std::int64_t j = s * kTileCols;
      const Strided<const float> transposed{b.data + p * b.row_step + j * b.col_step, b.col_step,
                                            b.row_step};
      Pack(transposed, cols - j, depth, kTileCols, &packed_b[s * kTileCols * kDepth]);
    }
    for (std::int64_t i = 0; i < rows; i += kTileRows) {
      Pack({a.data + i * a.row_step + p * a.col_step, a.row_step, a.col_step}, rows - i, depth,
           kTileRows, packed_a.data());
      for (std::int64_t j = 0; j < cols; j += kTileCols) {
        Tile tile;
        Multiply(packed_a.data(), &packed_b[j * kDepth], depth, tile);
        for (std::int64_t y = 0; y < std::min(kTileCols, cols - j); ++y) {
          for (std::int64_t x = 0; x < std::min(kTileRows, rows - i); ++x) {
            c.data[(i + x) * c.row_step + (j + y) * c.col_step] += alpha * tile.sums[y][x];
          }
        }
      }
    }
  }
}

}  // namespace hogbatch::standin
