#include "gpu/cuda/softmax.h"

#include <limits>

namespace hogbatch::cuda {
namespace {

// cuDNN counts the elements of a tensor, including the gaps between rows, in int.
bool Fits(const Tensor& t) {
  return t.rows > 0 && t.cols > 0 && t.stride > 0 &&
         t.stride <= std::numeric_limits<int>::max() / t.rows;
}

}  // namespace

Softmax::Softmax(const Calls& calls, cudaStream_t stream)
    : calls_(calls),
      dnn_(Make<DnnHandle>(calls, "cudnnCreate", cudnnCreate)),
      x_(Make<DnnTensor>(calls, "cudnnCreateTensorDescriptor", cudnnCreateTensorDescriptor)),
      y_(Make<DnnTensor>(calls, "cudnnCreateTensorDescriptor", cudnnCreateTensorDescriptor)) {
  calls_.Must(cudnnSetStream(dnn_.get(), stream), "cudnnSetStream");
}

bool Softmax::Log(const Tensor& x, const Tensor& y) {
  if (!Fits(x) || !Fits(y)) return false;
  // In place, cuDNN requires the same description for both.
  if (AddressOf(x) == AddressOf(y) && x.stride != y.stride) return false;
  // A row is an image of 1 × 1 pixels, and its columns are that pixel's channels.
  const auto describe = [&](const DnnTensor& descriptor, const Tensor& t) {
    calls_.Must(cudnnSetTensor4dDescriptorEx(descriptor.get(), CUDNN_DATA_FLOAT,
                                             static_cast<int>(t.rows), static_cast<int>(t.cols), 1,
                                             1, static_cast<int>(t.stride), 1, 1, 1),
                "cudnnSetTensor4dDescriptorEx");
  };
  describe(x_, x);
  describe(y_, y);
  const float one = 1, zero = 0;
  calls_.Must(cudnnSoftmaxForward(dnn_.get(), CUDNN_SOFTMAX_LOG, CUDNN_SOFTMAX_MODE_INSTANCE, &one,
                                  x_.get(), AddressOf(x), &zero, y_.get(), AddressOf(y)),
              "cudnnSoftmaxForward");
  return true;
}

}  // namespace hogbatch::cuda
