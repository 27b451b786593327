// The limit of training: its three matrix products alone, without activation, loss or update. What
// they read was packed beforehand in the order in which they read it. Cores share the weights and
// only read them; a gradient is written to a block that stays in the core's cache. Layers with few
// outputs are left out: no product with so few columns fills a vector.
#pragma once

#include <algorithm>
#include <vector>

#include "core/aligned.h"
#include "cpu/product.h"
#include "nn/model_spec.h"

namespace hogbatch::bench {

class PackedProducts {
 public:
  static constexpr std::int64_t kWidth = 32, kBlock = 48, kPass = 128;

  PackedProducts(const ParameterLayout& layout, const AlignedFloats& weights, std::int64_t rows)
      : weights_(weights),
        rows_(rows),
        stride_(Widest(layout) + kWidth / 2),  // no power of two
        x_(rows * stride_),
        y_(rows * stride_),
        gradient_(kBlock * stride_) {
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
  static std::int64_t Widest(const ParameterLayout& layout) {
    std::int64_t widest = kWidth;
    for (const LayerShape& s : layout.layers) widest = std::max({widest, s.in, s.out});
    return widest;
  }
  const float* W(const LayerShape& s) const { return weights_.data() + s.weights_at; }

  // Panels of w, 32 columns wide.
  void Forward(const LayerShape& s) {
    for (std::int64_t first = 0; first < rows_; first += kPass) {
      for (std::int64_t n = 0; n + kWidth <= s.out; n += kWidth) {
        Multiply({.rows = std::min(kPass, rows_ - first),
                  .cols = kWidth,
                  .depth = s.in,
                  .a = x_.data() + first * stride_,
                  .a_row = stride_,
                  .a_depth = 1,
                  .b = W(s) + n * s.in,
                  .b_depth = kWidth,
                  .c = y_.data() + first * stride_ + n,
                  .c_row = stride_,
                  .outer_loop = cpu::OuterLoop::kColumns});
      }
    }
  }
  // Rows of w and panels of dyᵀ, up to 64 columns wide; dot products if those fill no vector.
  void Backward(const LayerShape& s, std::int64_t first, std::int64_t count) {
    if (rows_ < cpu::VectorWidth()) {
      return cpu::MultiplyDots({.a_rows = rows_,
                                .b_rows = count,
                                .depth = s.out,
                                .a = y_.data(),
                                .a_row = stride_,
                                .b = W(s) + first * s.out,
                                .b_row = s.out,
                                .c = gradient_.data(),
                                .c_row = stride_});
    }
    for (std::int64_t m = 0; m < rows_; m += 64) {
      const std::int64_t width = std::min<std::int64_t>(64, rows_ - m);
      Multiply({.rows = count,
                .cols = width,
                .depth = s.out,
                .a = W(s) + first * s.out,
                .a_row = s.out,
                .a_depth = 1,
                .b = y_.data() + m * s.out,
                .b_depth = width,
                .c = gradient_.data(),
                .c_row = width,
                .outer_loop = cpu::OuterLoop::kRows});
    }
  }
  void Gradient(const LayerShape& s, std::int64_t first, std::int64_t count) {
    for (std::int64_t d = 0; d < rows_; d += kPass) {
      Multiply({.rows = count,
                .cols = s.out,
                .depth = std::min(kPass, rows_ - d),
                .a = x_.data() + d * stride_ + first,
                .a_row = 1,
                .a_depth = stride_,
                .b = y_.data() + d * stride_,
                .b_depth = stride_,
                .c = gradient_.data(),
                .c_row = stride_,
                .outer_loop = cpu::OuterLoop::kRows});
    }
  }
  void Multiply(const cpu::Product& product) { cpu::Multiply(product, tail_.data()); }

  const AlignedFloats& weights_;
  std::int64_t rows_;
  std::int64_t stride_;
  AlignedFloats x_;
  AlignedFloats y_;
  AlignedFloats gradient_;
  std::vector<LayerShape> layers_;
  AlignedFloats tail_{cpu::TailFloats(1024)};
};

}  // namespace hogbatch::bench
