// cuDNN's entry points: softmax.
#include <cudnn.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>

#include "tests/gpu/cuda_standin/blas.h"

namespace hogbatch::standin {

// Images, channels, height, width.
struct TensorShape {
  std::array<int, 4> sides = {};
  std::array<int, 4> steps = {};

  std::size_t bytes() const {
    std::size_t last = 0;
    for (std::size_t i = 0; i < sides.size(); ++i) last += std::size_t(sides[i] - 1) * steps[i];
    return (last + 1) * sizeof(float);
  }
};

namespace {

cudnnStatus_t RunDnn(const char* call, Purpose purpose, const std::function<void(Machine&)>& body) {
  const std::optional<Fault> fault = Run(call, purpose, body);
  if (!fault) return CUDNN_STATUS_SUCCESS;
  switch (*fault) {
    case Fault::kValue:
    case Fault::kHandle:
      return CUDNN_STATUS_BAD_PARAM;
    case Fault::kUnsupported:
      return CUDNN_STATUS_NOT_SUPPORTED;
    case Fault::kNoDevice:
    case Fault::kOldDriver:
    case Fault::kBadDevice:
      return CUDNN_STATUS_NOT_INITIALIZED;
    default:
      return CUDNN_STATUS_EXECUTION_FAILED;
  }
}

const TensorShape& Described(Machine& machine, cudnnTensorDescriptor_t tensor) {
  const TensorShape& shape = *machine.tensors.Get(tensor);
  if (shape.sides[0] == 0) throw Misuse{Fault::kValue, "a tensor descriptor was never set"};
  return shape;
}

// Log softmax over the channels of one place of one image.
void LogSoftmax(const float* x, std::int64_t x_step, float* y, std::int64_t y_step,
                std::int64_t channels) {
  float most = x[0];
  for (std::int64_t c = 1; c < channels; ++c) most = std::max(most, x[c * x_step]);
  double sum = 0;
  for (std::int64_t c = 0; c < channels; ++c) sum += std::exp(double{x[c * x_step]} - most);
  const double log_sum = std::log(sum);
  for (std::int64_t c = 0; c < channels; ++c) {
    y[c * y_step] = static_cast<float>(double{x[c * x_step]} - most - log_sum);
  }
}

}  // namespace
}  // namespace hogbatch::standin

using namespace hogbatch::standin;

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  return RunDnn("cudnnCreate", Purpose::kUse, [&](Machine& machine) {
    Give(handle, static_cast<cudnnHandle_t>(machine.dnn.Make({.device = CurrentDevice()})));
  });
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  return RunDnn("cudnnDestroy", Purpose::kGiveBack,
                [&](Machine& machine) { machine.dnn.Destroy(handle); });
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  return RunDnn("cudnnSetStream", Purpose::kUse, [&](Machine& machine) {
    Library& library = machine.dnn.Get(handle);
    if (machine.timeline.DeviceOf(stream) != library.device) {
      throw Misuse{Fault::kValue, "the handle and the stream belong to different devices"};
    }
    library.stream = stream;
  });
}

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* tensor) {
  return RunDnn("cudnnCreateTensorDescriptor", Purpose::kUse, [&](Machine& machine) {
    Give(tensor, static_cast<cudnnTensorDescriptor_t>(
                     machine.tensors.Make(std::make_shared<TensorShape>())));
  });
}

cudnnStatus_t cudnnSetTensor4dDescriptorEx(cudnnTensorDescriptor_t tensor, cudnnDataType_t type,
                                           int n, int c, int h, int w, int n_step, int c_step,
                                           int h_step, int w_step) {
  return RunDnn("cudnnSetTensor4dDescriptorEx", Purpose::kUse, [&](Machine& machine) {
    TensorShape& shape = *machine.tensors.Get(tensor);
    if (type != CUDNN_DATA_FLOAT) throw Misuse{Fault::kValue, "a tensor is not of floats"};
    const TensorShape wanted{{n, c, h, w}, {n_step, c_step, h_step, w_step}};
    for (int i = 0; i < 4; ++i) {
      if (wanted.sides[i] <= 0 || wanted.steps[i] <= 0) {
        throw Misuse{Fault::kValue, "a side or a step of a tensor is not positive"};
      }
    }
    if (n > 1 && n_step <= (c - 1) * c_step) {
      throw Misuse{Fault::kValue, "the rows of a tensor overlap"};
    }
    if (wanted.bytes() / sizeof(float) > std::size_t{1} << 31) {
      throw Misuse{Fault::kUnsupported, "a tensor has more than 2^31 numbers"};
    }
    shape = wanted;
  });
}

cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t tensor) {
  return RunDnn("cudnnDestroyTensorDescriptor", Purpose::kGiveBack,
                [&](Machine& machine) { machine.tensors.Destroy(tensor); });
}

cudnnStatus_t cudnnSoftmaxForward(cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algorithm,
                                  cudnnSoftmaxMode_t mode, const void* alpha,
                                  const cudnnTensorDescriptor_t x_shape, const void* x,
                                  const void* beta, const cudnnTensorDescriptor_t y_shape,
                                  void* y) {
  return RunDnn("cudnnSoftmaxForward", Purpose::kUse, [&](Machine& machine) {
    const Library& library = machine.dnn.Get(handle);
    CheckDevice(library, "cuDNN handle");
    if (library.stream == nullptr) {
      throw Misuse{Fault::kHandle, "the handle has no stream, and would use the default one"};
    }
    const TensorShape from = Described(machine, x_shape), to = Described(machine, y_shape);
    if (from.sides != to.sides) throw Misuse{Fault::kValue, "x and y have different sides"};
    if (x == y && from.steps != to.steps) {
      throw Misuse{Fault::kValue, "in place x and y must be described alike"};
    }
    if (algorithm != CUDNN_SOFTMAX_LOG) {
      throw Misuse{Fault::kUnsupported, "only the logarithm of softmax is feigned"};
    }
    if (from.sides[2] != 1 || from.sides[3] != 1) {
      throw Misuse{Fault::kUnsupported, "only rows of channels are feigned"};
    }
    // Without height and width both modes are the same.
    if (mode != CUDNN_SOFTMAX_MODE_INSTANCE && mode != CUDNN_SOFTMAX_MODE_CHANNEL) {
      throw Misuse{Fault::kValue, "there is no such mode"};
    }
    if (HostNumber(machine, alpha, "alpha") != 1 || HostNumber(machine, beta, "beta") != 0) {
      throw Misuse{Fault::kUnsupported, "only alpha 1 and beta 0 are feigned"};
    }
    const Range in = machine.memory.At(x, from.bytes(), library.device, "x");
    const Range out = machine.memory.At(y, to.bytes(), library.device, "y");
    Work work{.what = "cudnnSoftmaxForward",
              .touches = {{in, Touch::How::kReads}, {out, Touch::How::kWrites}},
              .run =
                  [=] {
                    for (std::int64_t n = 0; n < from.sides[0]; ++n) {
                      LogSoftmax(in.as<float>() + n * from.steps[0], from.steps[1],
                                 out.as<float>() + n * to.steps[0], to.steps[1], from.sides[1]);
                    }
                  },
              .seen = {}};
    machine.timeline.Queue(library.stream, std::move(work));
  });
}

const char* cudnnGetErrorString(cudnnStatus_t status) {
  switch (status) {
    case CUDNN_STATUS_SUCCESS:
      return "CUDNN_STATUS_SUCCESS";
    case CUDNN_STATUS_EXECUTION_FAILED:
      return "CUDNN_STATUS_EXECUTION_FAILED";
    case CUDNN_STATUS_NOT_INITIALIZED:
      return "CUDNN_STATUS_NOT_INITIALIZED";
    default:
      return "the stand-in refused the call; its violations say why";
  }
}
