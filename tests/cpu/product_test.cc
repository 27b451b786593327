// Every vector width computes the same, on whatever processor the test runs: the widest ones are
// built from narrower vectors where the processor has none. Arrays end where the operands end, so
// that a sanitizer sees a load past them.
#include <gtest/gtest.h>

#include <vector>

#include "core/random.h"
#include "cpu/dot_tiles.h"
#include "cpu/product_tiles.h"
#include "cpu/transpose.h"

namespace hogbatch::cpu {
namespace {

// A matrix whose rows lie `gap` floats apart; nothing follows the last one.
struct Strided {
  Strided(std::int64_t rows, std::int64_t cols, std::int64_t gap)
      : stride(cols + gap), values(static_cast<std::size_t>(rows > 0 ? stride * rows - gap : 0)) {
    values.reserve(1);  // an empty one has an address, too
    Random random(static_cast<std::uint64_t>(rows * 1000 + cols));
    for (float& value : values) value = static_cast<float>(random.Normal());
  }
  float at(std::int64_t row, std::int64_t col) const {
    return values[static_cast<std::size_t>(row * stride + col)];
  }

  std::int64_t stride;
  std::vector<float> values;
};

struct Shape {
  std::int64_t rows, cols, depth;
};

// a comes as it is or transposed, as the weight gradient reads it.
enum class Order { kRows, kColumns };

template <int kWidth>
void ExpectProduct(const Shape& shape, float keep, OuterLoop outer_loop, Order order) {
  const auto [rows, cols, depth] = shape;
  const bool by_rows = order == Order::kRows;
  const Strided a = by_rows ? Strided(rows, depth, 2) : Strided(depth, rows, 2);
  const Strided b(depth, cols, 1);
  const Strided before(rows, cols, 3);  // what lies between rows must stay as it is
  Strided c = before;
  std::vector<float> tail(static_cast<std::size_t>(TailFloats(depth)));
  MultiplyBlock<kWidth>({.rows = rows,
                         .cols = cols,
                         .depth = depth,
                         .a = a.values.data(),
                         .a_row = by_rows ? a.stride : 1,
                         .a_depth = by_rows ? 1 : a.stride,
                         .b = b.values.data(),
                         .b_depth = b.stride,
                         .keep = keep,
                         .c = c.values.data(),
                         .c_row = c.stride,
                         .outer_loop = outer_loop},
                        tail.data());
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(c.values.size()); ++i) {
    const std::int64_t row = i / c.stride, col = i % c.stride;
    double expected = before.at(row, col);
    double size = std::abs(expected);
    if (col < cols) {
      expected *= keep;
      for (std::int64_t d = 0; d < depth; ++d) {
        const double term = (by_rows ? a.at(row, d) : a.at(d, row)) * b.at(d, col);
        expected += term;
        size += std::abs(term);
      }
    }
    ASSERT_NEAR(c.at(row, col), expected, 1e-6 * size) << row << ", " << col;
  }
}

template <int kWidth>
void ExpectProducts(const Shape& shape) {
  SCOPED_TRACE(testing::Message() << shape.rows << " x " << shape.cols << " x " << shape.depth
                                  << ", vectors of " << kWidth);
  ExpectProduct<kWidth>(shape, 0, OuterLoop::kColumns, Order::kRows);
  ExpectProduct<kWidth>(shape, 1, OuterLoop::kRows, Order::kColumns);
  ExpectProduct<kWidth>(shape, 0.9f, OuterLoop::kRows, Order::kRows);
}

TEST(Product, IsTheSameForEveryVectorWidthAndShape) {
  for (const std::int64_t depth : {0, 1, 2, 17}) {
    for (const std::int64_t rows : {1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 17}) {
      for (const std::int64_t cols : {1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 100, 130}) {
        const Shape shape{rows, cols, depth};
        ExpectProducts<4>(shape);
        ExpectProducts<8>(shape);
        ExpectProducts<16>(shape);
      }
    }
  }
}

TEST(Product, IsTheSameWhereRowsOfTheResultLie4KbApart) {
  for (const std::int64_t rows : {1, 4, 7, 16}) {
    const Shape shape{rows, 1021, 3};  // three floats follow each row
    ExpectProducts<4>(shape);
    ExpectProducts<8>(shape);
    ExpectProducts<16>(shape);
  }
}

TEST(Product, WithKeepZeroForgetsEvenNan) {
  const std::vector<float> a = {2}, b(40, 3);
  std::vector<float> c(40, std::numeric_limits<float>::quiet_NaN()), tail(16);
  MultiplyBlock<8>({.rows = 1,
                    .cols = 40,
                    .depth = 1,
                    .a = a.data(),
                    .a_row = 1,
                    .a_depth = 1,
                    .b = b.data(),
                    .b_depth = 40,
                    .c = c.data(),
                    .c_row = 40,
                    .outer_loop = OuterLoop::kColumns},
                   tail.data());
  EXPECT_EQ(c, std::vector<float>(40, 6));
}

template <int kWidth>
void ExpectDots(const Shape& shape) {
  const auto [a_rows, b_rows, depth] = shape;
  const Strided a(a_rows, depth, 2), b(b_rows, depth, 1), before(a_rows, b_rows, 3);
  Strided c = before;
  MultiplyDotTiles<kWidth>({.a_rows = a_rows,
                            .b_rows = b_rows,
                            .depth = depth,
                            .a = a.values.data(),
                            .a_row = a.stride,
                            .b = b.values.data(),
                            .b_row = b.stride,
                            .c = c.values.data(),
                            .c_row = c.stride});
  for (std::int64_t i = 0; i < a_rows; ++i) {
    for (std::int64_t j = 0; j < b_rows; ++j) {
      double expected = 0, size = 0;
      for (std::int64_t d = 0; d < depth; ++d) {
        const double term = static_cast<double>(a.at(i, d)) * b.at(j, d);
        expected += term;
        size += std::abs(term);
      }
      ASSERT_NEAR(c.at(i, j), expected, 1e-6 * size) << i << ", " << j;
    }
    if (i + 1 < a_rows) {
      ASSERT_EQ(c.at(i, b_rows), before.at(i, b_rows));
    }
  }
}

TEST(Dots, AreTheSameForEveryVectorWidthAndShape) {
  for (const std::int64_t depth : {1, 3, 8, 15, 16, 33, 70}) {
    for (const std::int64_t a_rows : {1, 2, 3, 4, 5, 9}) {
      for (const std::int64_t b_rows : {1, 2, 3, 4, 5, 11}) {
        SCOPED_TRACE(testing::Message() << a_rows << " x " << b_rows << " x " << depth);
        ExpectDots<4>({a_rows, b_rows, depth});
        ExpectDots<8>({a_rows, b_rows, depth});
        ExpectDots<16>({a_rows, b_rows, depth});
      }
    }
  }
}

TEST(Transpose, HandlesEveryRemainder) {
  for (const std::int64_t rows : {1, 2, 3, 4, 5, 8, 11}) {
    for (const std::int64_t cols : {1, 2, 3, 4, 7, 12}) {
      const Strided from(rows, cols, 1), before(cols, rows, 2);
      Strided to = before;
      Transpose(from.values.data(), from.stride, rows, cols, to.values.data(), to.stride);
      for (std::int64_t c = 0; c < cols; ++c) {
        for (std::int64_t r = 0; r < rows; ++r) ASSERT_EQ(to.at(c, r), from.at(r, c));
        if (c + 1 < cols) {
          ASSERT_EQ(to.at(c, rows), before.at(c, rows));
        }
      }
    }
  }
}

}  // namespace
}  // namespace hogbatch::cpu
