// Log softmax by cuDNN.
#pragma once

#include "gpu/cuda/calls.h"
#include "gpu/cuda/handles.h"

namespace hogbatch::cuda {

class Softmax {
 public:
  // Takes a second or so, and memory of the device: loading cuDNN's kernels. `calls` outlives this.
  Softmax(const Calls& calls, cudaStream_t stream);

  // y = log softmax(x), row by row. False, and nothing is queued, if cuDNN does not take the shape.
  bool Log(const Tensor& x, const Tensor& y);

 private:
  const Calls& calls_;
  DnnHandle dnn_;
  DnnTensor x_, y_;
};

}  // namespace hogbatch::cuda
