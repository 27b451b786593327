#include "cpu/dense.h"

#include <dnnl.h>

#include "cpu/outer_product.h"

namespace hogbatch::cpu {
namespace {

// dnnl_sgemm rather than primitives: it has no cost per shape, and batches end in odd sizes.
void Sgemm(char transpose_a, char transpose_b, std::int64_t m, std::int64_t n, std::int64_t k,
           float alpha, const float* a, std::int64_t lda, const float* b, std::int64_t ldb,
           float beta, float* c, std::int64_t ldc) {
  const dnnl_status_t status =
      dnnl_sgemm(transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  if (status != dnnl_success) throw DeviceError("oneDNN refused a matrix product");
}

}  // namespace

void MultiplyForward(const Tensor& x, const Tensor& w, const Tensor& y) {
  Check(x.cols == w.rows && y.cols == w.cols && x.rows == y.rows, "x · w = y in shape");
  if (y.rows == 0) return;
  Sgemm('N', 'N', y.rows, y.cols, x.cols, 1, x.host(), x.stride, w.host(), w.stride, 0, y.host(),
        y.stride);
}

void MultiplyBackward(const Tensor& dy, const Tensor& w, const Tensor& dx) {
  Check(dy.cols == w.cols && dx.cols == w.rows && dy.rows == dx.rows, "dy · wᵀ = dx in shape");
  if (dx.rows == 0) return;
  Sgemm('N', 'T', dx.rows, dx.cols, dy.cols, 1, dy.host(), dy.stride, w.host(), w.stride, 0,
        dx.host(), dx.stride);
}

void UpdateWeights(const Tensor& x, const Tensor& dy, float scale, float keep, double begin,
                   const Tensor& dw, Scratch& scratch) {
  Check(x.rows == dy.rows && dw.rows == x.cols && dw.cols == dy.cols, "xᵀ · dy = dw in shape");
  AddOuterProduct({.depth = x.rows,
                   .rows = dw.rows,
                   .cols = dw.cols,
                   .a = x.host(),
                   .a_stride = x.stride,
                   .b = dy.host(),
                   .b_stride = dy.stride,
                   .scale = scale,
                   .keep = keep,
                   .c = dw.host(),
                   .c_stride = dw.stride,
                   .begin = begin},
                  scratch);
}

}  // namespace hogbatch::cpu
