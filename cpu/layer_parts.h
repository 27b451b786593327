// A dense layer in parts that are computed one after the other, each while its numbers are in the
// L1: the lanes that w holds, or bands of columns of a layer whose lanes all read one x.
#pragma once

#include <algorithm>
#include <cstdint>

#include "device/lanes.h"
#include "device/tensor.h"

namespace hogbatch::cpu {

struct LayerPart {
  std::int64_t first_in, in;    // columns of x
  std::int64_t first_out, out;  // columns of y
  bool is_lane;

  Tensor Inputs(const Tensor& x) const { return Part(x, first_in, x.rows, in); }
  Tensor Outputs(const Tensor& y) const { return Part(y, first_out, y.rows, out); }
  Tensor Weights(const Tensor& w) const {
    return Part(w, is_lane ? first_in * w.stride : first_out, in, out);
  }

 private:
  // The shapes of a layer are checked once, not for each part. A part of nothing is empty.
  static Tensor Part(const Tensor& of, std::int64_t first, std::int64_t rows, std::int64_t cols) {
    const std::int64_t floats = of.empty() ? 0 : (rows - 1) * of.stride + cols;
    return {
        {of.data.base, of.data.offset + (floats > 0 ? first : 0), floats}, rows, cols, of.stride};
  }
};

// Calls work(LayerPart) for each lane of w.
template <typename F>
void ForLanes(const Tensor& w, const Tensor& y, F work) {
  const std::int64_t lanes = LanesIn(w, y), in = w.rows / lanes;
  for (std::int64_t i = 0; i < lanes; ++i) work(LayerPart{i * in, in, i * w.cols, w.cols, true});
}

// The same, or for each band of a wide layer with few rows in a batch. What needs sums over all of
// y's columns cannot go by bands.
template <typename F>
void ForLanesOrBands(const Tensor& w, const Tensor& y, F work) {
  constexpr std::int64_t kBand = 256, kWide = 1024, kFewRows = 32;
  if (LanesIn(w, y) > 1 || y.cols < kWide || y.rows > kFewRows) return ForLanes(w, y, work);
  for (std::int64_t c = 0; c < y.cols; c += kBand) {
    work(LayerPart{0, w.rows, c, std::min(kBand, y.cols - c), false});
  }
}

}  // namespace hogbatch::cpu
