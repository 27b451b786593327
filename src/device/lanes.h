// Where lanes lie in the matrices of a call (device.h), and checks of their shapes: what devices
// share.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/error.h"
#include "device/tensor.h"

namespace hogbatch {

// Lanes that w holds one below the other, for outputs as wide as y.
inline std::int64_t LanesIn(const Tensor& w, const Tensor& y) {
  return w.cols == 0 ? 1 : std::max<std::int64_t>(1, y.cols / w.cols);
}

// x · w = y, or xᵀ · y = w: x is as wide as w is high, in each lane.
inline void CheckLayer(const Tensor& x, const Tensor& w, const Tensor& y, const char* what) {
  const std::int64_t lanes = LanesIn(w, y);
  Check(x.rows == y.rows && x.cols == w.rows && y.cols == lanes * w.cols && w.rows % lanes == 0,
        what);
}

// The lanes of a loss. The loss of row r in lane i lies at r · stride + i.
struct LossLanes {
  std::int64_t count;
  std::int64_t outputs;  // of each
  std::int64_t stride;
};

inline LossLanes LanesOfLoss(const Tensor& outputs, const Tensor& losses) {
  const bool is_vector = losses.rows != outputs.rows;
  Check(!is_vector || (losses.rows == 1 && losses.cols == outputs.rows),
        "there is a place for every row's loss");
  const std::int64_t count = is_vector ? 1 : losses.cols;
  Check(count > 0 && outputs.cols % count == 0, "lanes have equally many outputs");
  return {count, outputs.cols / count, is_vector ? 1 : losses.stride};
}

}  // namespace hogbatch
