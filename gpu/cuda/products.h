// Products of matrices: cuBLAS, and cublasLt where it adds the bias in the same pass.
#pragma once

#include <map>

#include "gpu/cuda/calls.h"
#include "gpu/cuda/handles.h"
#include "gpu/driver.h"

namespace hogbatch::cuda {

// All work goes to one stream, in order, so both libraries can share one workspace.
class Products {
 public:
  // `major`: of the GPU's compute capability. `calls` outlives this object.
  Products(const Calls& calls, cudaStream_t stream, int major);

  void Multiply(const gpu::Product& product);
  // False, and nothing is queued, if cublasLt has no algorithm for the shape.
  bool MultiplyWithBias(const gpu::Product& product, const Tensor& bias);

 private:
  // Everything that cublasLt's choice of an algorithm depends on.
  struct Shape {
    std::int64_t rows, cols, inner;
    std::int64_t a_stride, b_stride, c_stride;
    std::uint32_t a_alignment, b_alignment, c_alignment, bias_alignment;  // bytes

    auto operator<=>(const Shape&) const = default;
  };
  struct Plan {
    LtOperation operation;
    LtLayout w, x, y;
    bool exists = false;
    cublasLtMatmulAlgo_t algorithm = {};
  };
  Plan MakePlan(const Shape& shape, const void* bias) const;

  const Calls& calls_;
  cudaStream_t stream_;
  std::size_t workspace_bytes_;
  DeviceMemory workspace_;
  BlasHandle blas_;
  LtHandle lt_;
  std::map<Shape, Plan> plans_;
};

}  // namespace hogbatch::cuda
