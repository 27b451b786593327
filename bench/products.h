// The three matrix products of training by oneDNN, without activation, loss or update.
#pragma once

#include <oneapi/dnnl/dnnl.h>

#include <vector>

#include "core/aligned.h"
#include "core/error.h"
#include "nn/model_spec.h"
#include "tests/support/one_dnn.h"

namespace hogbatch::bench {

// One thread's forward, backward-to-data and backward-to-weights products over and over.
class Products {
 public:
  Products(const ParameterLayout& layout, const AlignedFloats& weights, std::int64_t rows)
      : layout_(layout), weights_(weights), rows_(rows), gradient_(layout.floats) {
    HoldOneDnnToOneThread();
    for (const LayerShape& shape : layout.layers) {
      inputs_.emplace_back(rows * shape.in);
      outputs_.emplace_back(rows * shape.out);
    }
  }

  void Once() {
    Forward();
    for (std::size_t i = layout_.layers.size(); i-- > 0;) {
      const LayerShape& s = layout_.layers[i];
      if (i > 0) {
        Multiply('N', 'T', rows_, s.in, s.out, outputs_[i].data(), s.out, W(s), s.out,
                 inputs_[i].data(), s.in);
      }
      Multiply('T', 'N', s.in, s.out, rows_, inputs_[i].data(), s.in, outputs_[i].data(), s.out,
               gradient_.data() + s.weights_at, s.out);
    }
  }

 protected:
  void Forward() {
    for (std::size_t i = 0; i < layout_.layers.size(); ++i) {
      const LayerShape& s = layout_.layers[i];
      Multiply('N', 'N', rows_, s.out, s.in, inputs_[i].data(), s.in, W(s), s.out,
               outputs_[i].data(), s.out);
    }
  }

 private:
  const float* W(const LayerShape& shape) const { return weights_.data() + shape.weights_at; }

  static void Multiply(char transpose_a, char transpose_b, std::int64_t m, std::int64_t n,
                       std::int64_t k, const float* a, std::int64_t lda, const float* b,
                       std::int64_t ldb, float* c, std::int64_t ldc) {
    Check(
        dnnl_sgemm(transpose_a, transpose_b, m, n, k, 1, a, lda, b, ldb, 0, c, ldc) == dnnl_success,
        "sgemm failed");
  }

  const ParameterLayout& layout_;
  const AlignedFloats& weights_;
  std::int64_t rows_;
  AlignedFloats gradient_;
  std::vector<AlignedFloats> inputs_;
  std::vector<AlignedFloats> outputs_;
};

// The forward products alone, which prediction is made of.
class ForwardProducts : public Products {
 public:
  using Products::Products;
  void Once() { Forward(); }
};

}  // namespace hogbatch::bench
