// Matrix products on one core, straight from row-major memory: nothing is packed.
//
// All three products of a dense layer are c = keep · c + a · b with other strides. A tile
// of c stays in registers while the loop walks down the depth; it broadcasts elements of a and
// loads vectors of b. docs/performance.md compares this with oneDNN and with packed panels.
#pragma once

#include <cstdint>

#include "cpu/vectors.h"

namespace hogbatch::cpu {

// Which loop over c is outside. By columns a panel of b is read once for all rows; by rows c and a
// are walked in the order of memory.
enum class OuterLoop : std::uint8_t { kColumns, kRows };

struct Product {
  std::int64_t rows, cols, depth;
  const float* a;  // a(r, d) = a[r * a_row + d * a_depth]
  std::int64_t a_row, a_depth;
  const float* b;  // b(d, c) = b[d * b_depth + c]
  std::int64_t b_depth;
  float keep = 0;  // 0: c may hold anything before
  float* c;        // may be shared weights: between reading and writing an element nothing happens
  std::int64_t c_row;
  OuterLoop outer_loop;
  Shared shared = Shared::kNone;
};

// Floats of scratch that Multiply needs.
constexpr std::int64_t kWidestVector = 16;
inline std::int64_t TailFloats(std::int64_t depth) { return depth * kWidestVector; }

void Multiply(const Product& product, float* tail);

// c(i, j) = Σ a(i, d) · b(j, d): for few rows of a, where b's rows are too long to transpose.
struct Dots {
  std::int64_t a_rows, b_rows, depth;
  const float* a;
  std::int64_t a_row;
  const float* b;
  std::int64_t b_row;
  float* c;
  std::int64_t c_row;
  Shared shared = Shared::kNone;
};

void MultiplyDots(const Dots& dots);

// Floats in a vector of this processor.
int VectorWidth();

}  // namespace hogbatch::cpu
