// Products with a sparse left side: only the rows of w that x's columns name are touched.
#pragma once

#include "device/device.h"

namespace hogbatch::cpu {

// y = x · w
void MultiplySparse(const CsrTensor& x, const Tensor& w, const Tensor& y);
// dw = dw + scale · xᵀ · dy, where dw may be shared weights.
void AddSparseOuterProduct(const CsrTensor& x, const Tensor& dy, float scale, const Tensor& dw);

}  // namespace hogbatch::cpu
