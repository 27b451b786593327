// Every vector width computes the same, on whatever processor the test runs: the widest ones are
// built from narrower vectors where the processor has none.
#include <gtest/gtest.h>

#include <vector>

#include "core/random.h"
#include "cpu/outer_product_tiles.h"

namespace hogbatch::cpu {
namespace {

std::vector<float> Random(std::int64_t size) {
  hogbatch::Random random(static_cast<std::uint64_t>(size));
  std::vector<float> values;
  for (std::int64_t i = 0; i < size; ++i) values.push_back(static_cast<float>(random.Normal()));
  return values;
}

template <int kLanes>
void ExpectProduct(std::int64_t depth, std::int64_t rows, std::int64_t cols, float keep,
                   double begin) {
  const std::int64_t stride = cols + 3;  // what lies between rows must stay as it is
  const std::vector<float> a = Random(depth * rows), b = Random(depth * cols);
  const std::vector<float> before = Random(rows * stride);
  std::vector<float> c = before;
  const OuterProduct product{.depth = depth,
                             .rows = rows,
                             .cols = cols,
                             .a = a.data(),
                             .a_stride = rows,
                             .b = b.data(),
                             .b_stride = cols,
                             .scale = -0.5f,
                             .keep = keep,
                             .c = c.data(),
                             .c_stride = stride,
                             .begin = begin};
  std::vector<float> scratch(ScratchFloats(product));
  AddBlock<kLanes>(product, scratch.data());
  for (std::int64_t i = 0; i < rows * stride; ++i) {
    const std::int64_t row = i / stride, col = i % stride;
    double expected = before[i];
    double size = std::abs(expected);
    if (col < cols) {
      expected *= keep;
      for (std::int64_t d = 0; d < depth; ++d) {
        const double term = -0.5 * a[d * rows + row] * b[d * cols + col];
        expected += term;
        size += std::abs(term);
      }
    }
    ASSERT_NEAR(c[i], expected, 1e-6 * size) << row << ", " << col;
  }
}

TEST(OuterProduct, IsTheSameForEveryVectorWidth) {
  for (const std::int64_t depth : {1, 2, 16, 128}) {
    for (const std::int64_t rows : {1, 5, 6, 13}) {
      for (const std::int64_t cols : {1, 2, 15, 16, 31, 32, 33, 100}) {
        for (const float keep : {0.0f, 1.0f, 0.9f}) {
          SCOPED_TRACE(testing::Message() << depth << " x " << rows << " x " << cols);
          ExpectProduct<4>(depth, rows, cols, keep, 0);
          ExpectProduct<8>(depth, rows, cols, keep, 0.7);
          ExpectProduct<16>(depth, rows, cols, keep, 0.99);
        }
      }
    }
  }
}

}  // namespace
}  // namespace hogbatch::cpu
