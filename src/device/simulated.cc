#include "device/simulated.h"

#include <fmt/format.h>

#include <new>

namespace hogbatch::sim {
namespace {

class SimulatedDevice final : public Device {
 public:
  SimulatedDevice(std::unique_ptr<Device> inner, SimulatedOptions options)
      : inner_(std::move(inner)), options_(options) {}

  const DeviceInfo& info() const override { return inner_->info(); }

  void* Allocate(std::size_t bytes) override { return Counted("Allocate").Allocate(bytes); }
  void Free(void* base) noexcept override { inner_->Free(base); }
  void Upload(std::span<const std::byte> from, void* base, std::size_t offset) override {
    Counted("Upload").Upload(from, base, offset);
  }
  void Download(const void* base, std::size_t offset, std::span<std::byte> to) override {
    Counted("Download").Download(base, offset, to);
  }
  void Wait() override { Counted("Wait").Wait(); }
  void* AllocateHost(std::size_t bytes) override {
    return Counted("AllocateHost").AllocateHost(bytes);
  }
  void FreeHost(void* memory) noexcept override { inner_->FreeHost(memory); }
  std::int64_t SetMark() override { return Counted("SetMark").SetMark(); }
  void WaitFor(std::int64_t mark) override { Counted("WaitFor").WaitFor(mark); }

  void DenseForward(const Tensor& x, const Tensor& w, const Tensor& bias, Activation f,
                    const Tensor& y, const Tensor& pre) override {
    Counted("DenseForward").DenseForward(x, w, bias, f, y, pre);
  }
  void SparseForward(const CsrTensor& x, const Tensor& w, const Tensor& bias, Activation f,
                     const Tensor& y, const Tensor& pre) override {
    Counted("SparseForward").SparseForward(x, w, bias, f, y, pre);
  }
  void DenseBackwardData(const Tensor& dy, const Tensor& w, Activation f, const Tensor& x,
                         const Tensor& pre, const Tensor& dx) override {
    Counted("DenseBackwardData").DenseBackwardData(dy, w, f, x, pre, dx);
  }
  void DenseBackwardWeights(const Tensor& x, const Tensor& dy, float scale, float keep,
                            const Tensor& dw, const Tensor& dbias) override {
    Counted("DenseBackwardWeights").DenseBackwardWeights(x, dy, scale, keep, dw, dbias);
  }
  void SparseBackwardWeights(const CsrTensor& x, const Tensor& dy, float scale, float keep,
                             const Tensor& dw, const Tensor& dbias) override {
    Counted("SparseBackwardWeights").SparseBackwardWeights(x, dy, scale, keep, dw, dbias);
  }

  void SoftmaxLoss(const Tensor& outputs, const Targets& targets, const Tensor& class_weights,
                   float scale, const Tensor& losses, const Tensor& gradient) override {
    Counted("SoftmaxLoss").SoftmaxLoss(outputs, targets, class_weights, scale, losses, gradient);
  }
  void SigmoidLoss(const Tensor& outputs, const Targets& targets, const Tensor& class_weights,
                   float scale, const Tensor& losses, const Tensor& gradient) override {
    Counted("SigmoidLoss").SigmoidLoss(outputs, targets, class_weights, scale, losses, gradient);
  }
  void SquaredLoss(const Tensor& outputs, const Targets& targets, float scale, const Tensor& losses,
                   const Tensor& gradient) override {
    Counted("SquaredLoss").SquaredLoss(outputs, targets, scale, losses, gradient);
  }

  void AddScaled(const Tensor& x, float scale, float keep, const Tensor& y) override {
    Counted("AddScaled").AddScaled(x, scale, keep, y);
  }
  void AddRows(const Tensor& x, const DeviceSpan<const std::int32_t>& rows, float scale,
               const Tensor& y) override {
    Counted("AddRows").AddRows(x, rows, scale, y);
  }
  void ScaleRows(const DeviceSpan<const float>& factors, const Tensor& y) override {
    Counted("ScaleRows").ScaleRows(factors, y);
  }
  void ScaleLanes(const DeviceSpan<const float>& factors, const Tensor& y) override {
    Counted("ScaleLanes").ScaleLanes(factors, y);
  }
  void Fill(const Tensor& y, float value) override { Counted("Fill").Fill(y, value); }
  void Momentum(const Tensor& gradient, const MomentumStep& step, const TouchedRows* touched,
                const Tensor& velocity, const Tensor& w) override {
    Counted("Momentum").Momentum(gradient, step, touched, velocity, w);
  }
  void Adam(const Tensor& gradient, const AdamStep& step, const TouchedRows* touched,
            const Tensor& mean, const Tensor& square, const Tensor& w) override {
    Counted("Adam").Adam(gradient, step, touched, mean, square, w);
  }
  void MomentumOfLanes(const Tensor& gradient, const LaneSteps<MomentumStep>& lanes,
                       const TouchedRows* touched, const Tensor& velocity,
                       const Tensor& w) override {
    Counted("MomentumOfLanes").MomentumOfLanes(gradient, lanes, touched, velocity, w);
  }
  void AdamOfLanes(const Tensor& gradient, const LaneSteps<AdamStep>& lanes,
                   const TouchedRows* touched, const Tensor& mean, const Tensor& square,
                   const Tensor& w) override {
    Counted("AdamOfLanes").AdamOfLanes(gradient, lanes, touched, mean, square, w);
  }

 private:
  // The device to forward to, unless this is the call that fails.
  Device& Counted(const char* call) {
    if (++calls_ == options_.fail_call) {
      if (options_.fault == Fault::kHostMemory) throw std::bad_alloc();
      throw DeviceError(
          fmt::format("{} failed in {}, its call {} (a failure injected by the simulation)",
                      info().name, call, calls_));
    }
    return *inner_;
  }

  std::unique_ptr<Device> inner_;
  SimulatedOptions options_;
  std::int64_t calls_ = 0;
};

}  // namespace

std::unique_ptr<Device> MakeSimulatedDevice(std::unique_ptr<Device> inner,
                                            SimulatedOptions options) {
  return std::make_unique<SimulatedDevice>(std::move(inner), options);
}

}  // namespace hogbatch::sim
