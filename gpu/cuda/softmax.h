// Log softmax by cuDNN.
#pragma once

#include "gpu/cuda/calls.h"
#include "gpu/cuda/handles.h"

namespace hogbatch::cuda {

class Softmax {
 public:
  // Loads cuDNN's kernels, which takes about a second and device memory. `calls` outlives this
  // object.
  Softmax(const Calls& calls, cudaStream_t stream);

  // y = log softmax(x), row by row. False, and nothing is queued, if cuDNN does not support the
  // shape.
  bool Log(const Tensor& x, const Tensor& y);

 private:
  const Calls& calls_;
  DnnHandle dnn_;
  DnnTensor x_, y_;
};

}  // namespace hogbatch::cuda
