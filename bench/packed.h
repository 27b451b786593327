// The limit of training: its three matrix products alone, without activation, loss or update, on
// operands that were packed into panels beforehand. Cores share the packed weights and only read
// them; a gradient is written to a block that stays in the core's cache. Layers with few outputs
// are left out: no product with so few columns fills a vector.
#pragma once

#include <algorithm>
#include <vector>

#include "core/aligned.h"
#include "cpu/product.h"
#include "nn/model_spec.h"

namespace hogbatch::bench {

class PackedProducts {
 public:
  static constexpr std::int64_t kWidth = 32, kBlock = 48;

  PackedProducts(const ParameterLayout& layout, const AlignedFloats& weights, std::int64_t rows)
      : weights_(weights),
        rows_(rows),
        tile_(cpu::VectorLanes() >= 16 ? 8 : 6),
        widest_(Widest(layout)),
        x_(RoundUp(rows) * widest_),
        y_(RoundUp(rows) * widest_),
        gradient_(kBlock * widest_) {
    for (const LayerShape& shape : layout.layers) {
      if (shape.out >= kWidth) layers_.push_back(shape);
    }
  }

  static double Flop(const ParameterLayout& layout) {  // of an example
    double flop = 0;
    for (std::size_t i = 0; i < layout.layers.size(); ++i) {
      const LayerShape& s = layout.layers[i];
      if (s.out >= kWidth) flop += 2.0 * static_cast<double>(s.in * s.out) * (i > 0 ? 3 : 2);
    }
    return flop;
  }

  void Once() {
    for (const LayerShape& s : layers_) Forward(s);
    for (std::size_t i = layers_.size(); i-- > 0;) {
      for (std::int64_t k = 0; k < layers_[i].in; k += kBlock) {
        const std::int64_t count = std::min(kBlock, layers_[i].in - k);
        if (i > 0) Backward(layers_[i], k, count);
        Gradient(layers_[i], k, count);
      }
    }
  }

 private:
  static std::int64_t RoundUp(std::int64_t n) { return (n + kWidth - 1) / kWidth * kWidth; }
  static std::int64_t Widest(const ParameterLayout& layout) {
    std::int64_t widest = kWidth;
    for (const LayerShape& s : layout.layers) widest = std::max({widest, s.in + kWidth, s.out});
    return widest;
  }
  const float* W(const LayerShape& s) const { return weights_.data() + s.weights_at; }

  // Panels of w are 32 columns wide, panels of x as high as a tile.
  void Forward(const LayerShape& s) {
    for (std::int64_t first = 0; first < rows_; first += 128) {
      for (std::int64_t n = 0; n + kWidth <= s.out; n += kWidth) {
        for (std::int64_t r = first; r < std::min(first + 128, rows_); r += tile_) {
          Multiply({.rows = std::min(tile_, rows_ - r),
                    .cols = kWidth,
                    .depth = s.in,
                    .a = x_.data() + r * s.in,
                    .a_row = 1,
                    .a_depth = tile_,
                    .b = W(s) + n * s.in,
                    .b_depth = kWidth,
                    .c = y_.data() + r * s.out + n,
                    .c_row = s.out,
                    .walk = cpu::Walk::kColumns});
        }
      }
    }
  }
  // Panels of w are as high as a tile, panels of dyᵀ up to 64 columns wide.
  void Backward(const LayerShape& s, std::int64_t first, std::int64_t count) {
    for (std::int64_t m = 0; m < rows_; m += 64) {
      const std::int64_t width = std::min<std::int64_t>(64, rows_ - m);
      for (std::int64_t k = first; k < first + count; k += tile_) {
        Multiply({.rows = std::min(tile_, first + count - k),
                  .cols = width,
                  .depth = s.out,
                  .a = W(s) + k * s.out,
                  .a_row = 1,
                  .a_depth = std::min(tile_, first + count - k),
                  .b = y_.data() + m * s.out,
                  .b_depth = width,
                  .c = gradient_.data(),
                  .c_row = width,
                  .walk = cpu::Walk::kRows});
      }
    }
  }
  void Gradient(const LayerShape& s, std::int64_t first, std::int64_t count) {
    for (std::int64_t d = 0; d < rows_; d += 128) {
      const std::int64_t depth = std::min<std::int64_t>(128, rows_ - d);
      for (std::int64_t k = first; k < first + count; k += tile_) {
        for (std::int64_t n = 0; n + kWidth <= s.out; n += kWidth) {
          Multiply({.rows = std::min(tile_, first + count - k),
                    .cols = kWidth,
                    .depth = depth,
                    .a = x_.data() + k * rows_ + d * tile_,
                    .a_row = 1,
                    .a_depth = tile_,
                    .b = y_.data() + n * rows_ + d * kWidth,
                    .b_depth = kWidth,
                    .c = gradient_.data() + (k - first) * s.out + n,
                    .c_row = s.out,
                    .walk = cpu::Walk::kRows});
        }
      }
    }
  }
  void Multiply(const cpu::Product& product) { cpu::Multiply(product, tail_.data()); }

  const AlignedFloats& weights_;
  std::int64_t rows_;
  std::int64_t tile_;
  std::int64_t widest_;
  AlignedFloats x_;
  AlignedFloats y_;
  AlignedFloats gradient_;
  std::vector<LayerShape> layers_;
  AlignedFloats tail_{cpu::TailFloats(1024)};
};

}  // namespace hogbatch::bench
