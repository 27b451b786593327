#include "cpu/dense.h"

#include <algorithm>

#include "core/racy.h"
#include "cpu/product.h"
#include "cpu/steps.h"
#include "cpu/thin.h"
#include "cpu/transpose.h"
#include "device/lanes.h"

namespace hogbatch::cpu {
namespace {

constexpr std::int64_t kBatchRows = 128;  // of a pass: their x or dy stays in the L2
constexpr std::int64_t kDepth = 1024;     // of a pass over long rows
constexpr std::int64_t kBlock = 48;       // rows of w; full tiles for 6 and for 8 rows
constexpr std::int64_t kLargeBlock = 2 * kBlock;
constexpr std::int64_t kPanel = 64;  // rows of dy that are transposed side by side

// So few columns would leave most of a vector empty. They are copied into rows first.
bool IsThin(const Tensor& w) { return w.cols <= kThin; }

void CopyThin(const Tensor& w, float* rows) {
  CopyColumns(w.host(), w.stride, w.rows, w.cols, rows);
}

void CopyShared(const Tensor& from, const Tensor& to) {
  for (std::int64_t k = 0; k < from.rows; ++k) {
    const float* const row = from.host() + k * from.stride;
    float* const copy = to.host() + k * to.stride;
    for (std::int64_t n = 0; n < from.cols; ++n) copy[n] = RacyLoad(row + n);
  }
}

std::int64_t RoundUp(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }

// dx = dy · wᵀ without a transposed w: dxᵀ = w · dyᵀ, with vectors along the batch. Rows of the
// batch that would leave most of a vector empty use dot products with w's rows instead.
class DataGradient {
 public:
  DataGradient(const BackwardData& p, float* scratch)
      : p_(p), tiled_(TiledRows(p.dy.rows)), scratch_(scratch) {
    if (IsThin(p.w)) {
      CopyThin(p.w, scratch_);
      return;
    }
    for (std::int64_t first = 0; first < tiled_; first += kPanel) TransposePanel(first);
  }

  static std::int64_t Floats(const BackwardData& p) {
    if (IsThin(p.w)) return p.w.rows * p.w.cols + TailFloats(p.w.cols);
    return RoundUp(p.dy.rows, kWidestVector) * p.dy.cols + kBlock * kPanel;
  }

  // Columns [k, k + count) of dx. A thin layer makes all of them at once.
  void Add(std::int64_t k, std::int64_t count) {
    if (IsThin(p_.w)) {
      if (k == 0) AddThin();
      return;
    }
    for (std::int64_t first = 0; first < tiled_; first += kPanel) {
      for (std::int64_t i = 0; i < count; i += kBlock) {
        AddPanel(first, k + i, std::min(kBlock, count - i));
      }
    }
    if (tiled_ == p_.dy.rows) return;
    const Tensor& w = p_.w;
    MultiplyDots({.a_rows = p_.dy.rows - tiled_,
                  .b_rows = count,
                  .depth = w.cols,
                  .a = p_.dy.host() + tiled_ * p_.dy.stride,
                  .a_row = p_.dy.stride,
                  .b = w.host() + k * w.stride,
                  .b_row = w.stride,
                  .c = p_.dx.host() + tiled_ * p_.dx.stride + k,
                  .c_row = p_.dx.stride,
                  .shared = Shared::kB});
  }

 private:
  static std::int64_t TiledRows(std::int64_t rows) {
    const std::int64_t width = VectorWidth(), rest = rows % width;
    return 4 * rest >= 3 * width ? rows : rows - rest;
  }
  std::int64_t RowsOf(std::int64_t first) const { return std::min(kPanel, tiled_ - first); }
  // Of a panel: its rows, filled up to whole vectors.
  std::int64_t WidthOf(std::int64_t first) const { return RoundUp(RowsOf(first), VectorWidth()); }
  float* Panel(std::int64_t first) const { return scratch_ + first * p_.dy.cols; }

  void TransposePanel(std::int64_t first) {
    const Tensor& dy = p_.dy;
    const std::int64_t rows = RowsOf(first), width = WidthOf(first);
    float* panel = Panel(first);
    Transpose(dy.host() + first * dy.stride, dy.stride, rows, dy.cols, panel, width);
    for (std::int64_t n = 0; rows < width && n < dy.cols; ++n) {
      std::fill_n(panel + n * width + rows, width - rows, 0.0f);
    }
  }

  void AddPanel(std::int64_t first, std::int64_t k, std::int64_t count) {
    const Tensor& w = p_.w;
    const std::int64_t width = WidthOf(first);
    float* const sums = scratch_ + RoundUp(tiled_, kWidestVector) * w.cols;
    for (std::int64_t n = 0; n < w.cols; n += kDepth) {
      Multiply({.rows = count,
                .cols = width,
                .depth = std::min(kDepth, w.cols - n),
                .a = w.host() + k * w.stride + n,
                .a_row = w.stride,
                .a_depth = 1,
                .b = Panel(first) + n * width,
                .b_depth = width,
                .keep = n == 0 ? 0.0f : 1.0f,
                .c = sums,
                .c_row = width,
                .outer_loop = OuterLoop::kRows,
                .shared = Shared::kA},
               nullptr);  // panels are whole vectors wide
    }
    Transpose(sums, width, count, RowsOf(first), p_.dx.host() + first * p_.dx.stride + k,
              p_.dx.stride);
  }

  void AddThin() {
    Multiply({.rows = p_.dx.rows,
              .cols = p_.dx.cols,
              .depth = p_.w.cols,
              .a = p_.dy.host(),
              .a_row = p_.dy.stride,
              .a_depth = 1,
              .b = scratch_,
              .b_depth = p_.w.rows,
              .c = p_.dx.host(),
              .c_row = p_.dx.stride,
              .outer_loop = OuterLoop::kColumns},
             scratch_ + p_.w.rows * p_.w.cols);
  }

  const BackwardData& p_;
  std::int64_t tiled_;  // rows of the batch
  float* scratch_;      // panels of dyᵀ, then a block of dxᵀ; or w's columns as rows
};

class WeightGradient {
 public:
  // dy is copied, already scaled: that saves a multiplication for each weight. Rows of the copy lie
  // apart by an odd number of cache lines, since those a power of two apart evict each other.
  WeightGradient(const BackwardWeights& p, float* scratch)
      : p_(p), stride_(CopyStride(p)), copy_(scratch), scratch_(scratch + stride_ * p.dy.rows) {
    if (!IsThin(p.dw)) CopyScaled(p.dy, p.scale, copy_, stride_);
  }

  static std::int64_t Floats(const BackwardWeights& p) {
    const std::int64_t tail = TailFloats(std::min(p.x.rows, kBatchRows));
    return CopyStride(p) * p.dy.rows + tail + (IsThin(p.dw) ? p.dw.rows * p.dw.cols : 0);
  }

  // Rows [k, k + count) of dw. A thin layer is updated at once, with its last rows.
  void Add(std::int64_t k, std::int64_t count) {
    if (IsThin(p_.dw)) {
      if (k + count == p_.dw.rows) AddThin();
      return;
    }
    // At least once, so that a batch without rows still keeps or clears.
    for (std::int64_t d = 0; d == 0 || d < p_.x.rows; d += kBatchRows) {
      Multiply({.rows = count,
                .cols = p_.dw.cols,
                .depth = std::min(kBatchRows, p_.x.rows - d),
                .a = p_.x.host() + d * p_.x.stride + k,
                .a_row = 1,
                .a_depth = p_.x.stride,
                .b = copy_ + d * stride_,
                .b_depth = stride_,
                .keep = d == 0 ? p_.keep : 1,
                .c = p_.dw.host() + k * p_.dw.stride,
                .c_row = p_.dw.stride,
                .outer_loop = OuterLoop::kRows},
               scratch_);
    }
  }

 private:
  // dwᵀ = dyᵀ · x, in private memory, and then one addition to each weight.
  void AddThin() {
    const Tensor& dw = p_.dw;
    float* const sums = scratch_ + TailFloats(std::min(p_.x.rows, kBatchRows));
    for (std::int64_t d = 0; d == 0 || d < p_.x.rows; d += kBatchRows) {
      Multiply({.rows = dw.cols,
                .cols = dw.rows,
                .depth = std::min(kBatchRows, p_.x.rows - d),
                .a = p_.dy.host() + d * p_.dy.stride,
                .a_row = 1,
                .a_depth = p_.dy.stride,
                .b = p_.x.host() + d * p_.x.stride,
                .b_depth = p_.x.stride,
                .keep = d == 0 ? 0.0f : 1.0f,
                .c = sums,
                .c_row = dw.rows,
                .outer_loop = OuterLoop::kColumns},
               scratch_);
    }
    AddColumns(sums, p_.scale, p_.keep, dw.rows, dw.cols, dw.host(), dw.stride);
  }

  static std::int64_t CopyStride(const BackwardWeights& p) {
    return IsThin(p.dw) ? 0 : RoundUp(p.dy.cols, 2 * kWidestVector) + kWidestVector;
  }

  const BackwardWeights& p_;
  std::int64_t stride_;
  float* copy_;     // of dy; a thin layer has none
  float* scratch_;  // a tail, then a thin layer's gradient
};

// Calls `work` with blocks of w's rows, beginning somewhere. Every block reads all of x and dy, so
// that larger batches get larger blocks.
template <typename F>
void ForBlocks(const Tensor& w, const Tensor& dy, double begin, F work) {
  const std::int64_t block = dy.rows > kBatchRows ? kLargeBlock : kBlock;
  const std::int64_t blocks = (w.rows + block - 1) / block;
  const auto first = static_cast<std::int64_t>(begin * static_cast<double>(blocks));
  for (std::int64_t i = 0; i < blocks; ++i) {
    const std::int64_t k = (first + i < blocks ? first + i : first + i - blocks) * block;
    work(k, std::min(block, w.rows - k));
  }
}

void CheckShapes(const BackwardData& p) { CheckLayer(p.dx, p.w, p.dy, "dy · wᵀ = dx in shape"); }
void CheckShapes(const BackwardWeights& p) { CheckLayer(p.x, p.dw, p.dy, "xᵀ · dy = dw in shape"); }

float* Get(Scratch& scratch, std::int64_t floats) { return scratch.Get(floats); }

}  // namespace

void MultiplyForward(const Tensor& x, const Tensor& w, const Tensor& y, Scratch& scratch) {
  CheckLayer(x, w, y, "x · w = y in shape");
  if (IsThin(w)) {
    float* const rows = Get(scratch, w.rows * w.cols);
    CopyThin(w, rows);
    return MultiplyDots({.a_rows = x.rows,
                         .b_rows = w.cols,
                         .depth = x.cols,
                         .a = x.host(),
                         .a_row = x.stride,
                         .b = rows,
                         .b_row = w.rows,
                         .c = y.host(),
                         .c_row = y.stride});
  }
  float* const tail = Get(scratch, TailFloats(std::min(x.cols, kDepth)));
  for (std::int64_t d = 0; d < x.cols; d += kDepth) {
    Multiply({.rows = x.rows,
              .cols = y.cols,
              .depth = std::min(kDepth, x.cols - d),
              .a = x.host() + d,
              .a_row = x.stride,
              .a_depth = 1,
              .b = w.host() + d * w.stride,
              .b_depth = w.stride,
              .keep = d == 0 ? 0.0f : 1.0f,
              .c = y.host(),
              .c_row = y.stride,
              .outer_loop = OuterLoop::kColumns,
              .shared = Shared::kB},
             tail);
  }
}

void MultiplyBackward(const BackwardData& data, Scratch& scratch) {
  CheckShapes(data);
  DataGradient dx(data, Get(scratch, DataGradient::Floats(data)));
  ForBlocks(data.w, data.dy, 0, [&](std::int64_t k, std::int64_t count) { dx.Add(k, count); });
}

void UpdateWeights(const BackwardWeights& weights, Scratch& scratch) {
  CheckShapes(weights);
  WeightGradient dw(weights, Get(scratch, WeightGradient::Floats(weights)));
  ForBlocks(weights.dw, weights.dy, weights.begin,
            [&](std::int64_t k, std::int64_t count) { dw.Add(k, count); });
}

void MultiplyAndUpdate(const BackwardData& data, const BackwardWeights& weights, Scratch& scratch) {
  CheckShapes(data);
  CheckShapes(weights);
  const std::int64_t floats = DataGradient::Floats(data);
  float* const memory = Get(scratch, floats + WeightGradient::Floats(weights));
  DataGradient dx(data, memory);
  WeightGradient dw(weights, memory + floats);
  ForBlocks(data.w, data.dy, weights.begin, [&](std::int64_t k, std::int64_t count) {
    dx.Add(k, count);
    dw.Add(k, count);
  });
}

bool InterleavesUpdate(const Tensor& x, const Tensor& w, const Tensor& y) {
  return x.rows <= kBatchRows && !IsThin(w) && LanesIn(w, y) == 1;
}

void UpdateAndMultiply(const BackwardWeights& update, const Tensor& x, const Tensor& y,
                       const Tensor& copy, Scratch& scratch) {
  CheckShapes(update);
  const Tensor& w = update.dw;
  CheckLayer(x, w, y, "x · w = y in shape");
  const std::int64_t floats = WeightGradient::Floats(update);
  float* const memory = Get(scratch, floats + TailFloats(kLargeBlock));
  WeightGradient dw(update, memory);
  bool is_first = true;
  ForBlocks(w, update.dy, update.begin, [&](std::int64_t k, std::int64_t count) {
    dw.Add(k, count);
    const Tensor block = w.Slice(k, count);
    if (!copy.empty()) CopyShared(block, copy.Slice(k, count));
    const Tensor& from = copy.empty() ? block : copy.Slice(k, count);
    Multiply({.rows = x.rows,
              .cols = y.cols,
              .depth = count,
              .a = x.host() + k,
              .a_row = x.stride,
              .a_depth = 1,
              .b = from.host(),
              .b_depth = from.stride,
              .keep = is_first ? 0.0f : 1.0f,
              .c = y.host(),
              .c_row = y.stride,
              .outer_loop = OuterLoop::kColumns,
              .shared = copy.empty() ? Shared::kB : Shared::kNone},
             memory + floats);
    is_first = false;
  });
}

}  // namespace hogbatch::cpu
