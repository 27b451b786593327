// A little of everything that training asks of a device, to be done step by step.
#pragma once

#include <array>
#include <memory>
#include <span>

#include "device/buffer.h"
#include "device/device.h"
#include "gpu/cuda/cuda_driver.h"
#include "gpu/gpu_device.h"

namespace hogbatch::standin {

inline std::unique_ptr<Device> MakeDevice(std::size_t number) {
  return gpu::MakeGpuDevice(cuda::MakeDriver(cuda::ListDevices().at(number)));
}

class SmallWork {
 public:
  explicit SmallWork(Device& device) : device_(device) {}

  void Upload() {
    for (const Buffer* buffer : {&x_, &w_, &bias_}) {
      device_.Upload(std::as_bytes(std::span(inputs_)), buffer->span<float>().base, 0);
    }
    device_.Upload(std::as_bytes(std::span(classes_)), targets_.span<std::int32_t>().base, 0);
  }
  void Wait() { device_.Wait(); }
  void ForwardWithBias() { Forward(Activation::kIdentity); }
  void ForwardWithRelu() { Forward(Activation::kRelu); }
  void ShortLoss() { Loss(y_, gradient_, 4); }
  void LongLoss() { Loss(long_, long_gradient_, kLong); }
  void Backward() {
    device_.DenseBackwardWeights(Matrix(x_), Matrix(gradient_), -1, 1, Matrix(w_), Vector(bias_));
  }
  void Clear() { device_.Fill(Tensor::Matrix(long_.span<float>(), 4, kLong), 0); }
  void Download() {
    device_.Download(losses_.span<float>().base, 0, std::as_writable_bytes(std::span(received_)));
  }
  void SetMark() { mark_ = device_.SetMark(); }
  void WaitForMark() { device_.WaitFor(mark_); }
  void AllocateAndFree() { const Buffer passing(device_, 100); }

  // A loss a row, from equal outputs: the logarithm of how many there are.
  const std::array<float, 4>& received() const { return received_; }

  static constexpr std::array kSteps = {
      &SmallWork::Upload,          &SmallWork::Wait,      &SmallWork::ForwardWithBias,
      &SmallWork::ForwardWithRelu, &SmallWork::ShortLoss, &SmallWork::Backward,
      &SmallWork::Clear,           &SmallWork::LongLoss,  &SmallWork::Download,
      &SmallWork::SetMark,         &SmallWork::Clear,     &SmallWork::WaitForMark,
      &SmallWork::AllocateAndFree, &SmallWork::Wait};
  static constexpr std::int64_t kLong = 2000;  // columns, so many that cuDNN's softmax is used

 private:
  static Tensor Matrix(const Buffer& buffer) { return Tensor::Matrix(buffer.span<float>(), 4, 4); }
  static Tensor Vector(const Buffer& buffer) {
    return Tensor::Vector(buffer.span<float>().Sub(0, 4));
  }
  void Forward(Activation f) {
    device_.DenseForward(Matrix(x_), Matrix(w_), Vector(bias_), f, Matrix(y_), {});
  }
  void Loss(const Buffer& outputs, const Buffer& gradient, std::int64_t cols) {
    const auto classes = targets_.span<std::int32_t>();
    device_.SoftmaxLoss(Tensor::Matrix(outputs.span<float>(), 4, cols),
                        {.classes = {classes.base, classes.offset, classes.size}}, {}, 1,
                        Vector(losses_), Tensor::Matrix(gradient.span<float>(), 4, cols));
  }

  Device& device_;
  const std::array<float, 16> inputs_ = {};
  const std::array<std::int32_t, 4> classes_ = {0, 1, 2, 3};
  std::array<float, 4> received_ = {};
  std::int64_t mark_ = 0;
  Buffer x_{device_, sizeof(inputs_)}, w_{device_, sizeof(inputs_)},
      bias_{device_, sizeof(inputs_)}, y_{device_, sizeof(inputs_)},
      gradient_{device_, sizeof(inputs_)}, losses_{device_, sizeof(received_)},
      targets_{device_, sizeof(classes_)}, long_{device_, 4 * kLong * sizeof(float)},
      long_gradient_{device_, 4 * kLong * sizeof(float)};
};

}  // namespace hogbatch::standin
