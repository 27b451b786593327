#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>

#include "core/aligned.h"
#include "core/random.h"
#include "cpu/activations.h"
#include "cpu/cpu.h"
#include "cpu/dense.h"
#include "cpu/layer_parts.h"
#include "cpu/losses.h"
#include "cpu/sparse.h"
#include "cpu/steps.h"

namespace hogbatch::cpu {
namespace {

class CpuDevice final : public Device {
 public:
  explicit CpuDevice(DeviceInfo info)
      : info_(std::move(info)), begin_(std::hash<std::string>{}(info_.name)) {}

  const DeviceInfo& info() const override { return info_; }

  void* Allocate(std::size_t bytes) override {
    const std::size_t there_is = info_.memory_bytes;  // 0: not known
    const bool too_much = there_is > 0 && bytes > there_is;
    void* base = too_much ? nullptr : AllocateAligned(bytes);
    if (!base) {
      throw OutOfDeviceMemory(info_.name + " does not have the " + std::to_string(bytes) +
                              " bytes of memory it was asked for; a smaller network or batch "
                              "needs less");
    }
    return base;
  }
  void Free(void* base) noexcept override { std::free(base); }
  void Upload(std::span<const std::byte> from, void* base, std::size_t offset) override {
    if (!from.empty())
      std::memcpy(static_cast<std::byte*>(base) + offset, from.data(), from.size());
  }
  void Download(const void* base, std::size_t offset, std::span<std::byte> to) override {
    if (!to.empty())
      std::memcpy(to.data(), static_cast<const std::byte*>(base) + offset, to.size());
  }
  void Wait() override {}

  void DenseForward(const Tensor& x, const Tensor& w, const Tensor& bias, Activation f,
                    const Tensor& y, const Tensor& pre) override {
    // In blocks of rows, so that x, and the outputs to be activated, stay in the L2.
    constexpr std::int64_t kRows = 128;
    for (std::int64_t r = 0; r < x.rows; r += kRows) {
      const std::int64_t rows = std::min(kRows, x.rows - r);
      ComputeForward(x.Slice(r, rows), w, bias, f, y.Slice(r, rows),
                     pre.empty() ? pre : pre.Slice(r, rows));
    }
  }
  void SparseForward(const CsrTensor& x, const Tensor& w, const Tensor& bias, Activation f,
                     const Tensor& y, const Tensor& pre) override {
    MultiplySparse(x, w, y);
    Activate(y, bias, f, pre);
  }
  void DenseBackwardData(const Tensor& dy, const Tensor& w, Activation f, const Tensor& x,
                         const Tensor& pre, const Tensor& dx) override {
    CheckLayer(dx, w, dy, "dy · wᵀ = dx in shape");
    ForLanes(w, dy, [&](const LayerPart& part) {
      const Tensor to = part.Inputs(dx);
      MultiplyBackward({part.Outputs(dy), part.Weights(w), to}, scratch_);
      MultiplySlope(to, f, part.Inputs(x), part.Inputs(pre));
    });
  }
  void DenseBackwardWeights(const Tensor& x, const Tensor& dy, float scale, float keep,
                            const Tensor& dw, const Tensor& dbias) override {
    CheckLayer(x, dw, dy, "xᵀ · dy = dw in shape");
    const double begin = begin_.Uniform();
    ForLanesOrBands(dw, dy, [&](const LayerPart& part) {
      const Tensor from = part.Outputs(dy);
      UpdateWeights({part.Inputs(x), from, scale, keep, part.Weights(dw), begin}, scratch_);
      AddColumnSums(from, scale, keep, part.Outputs(dbias));
    });
  }
  void DenseBackward(const Tensor& dy, const Tensor& w, Activation f, const Tensor& x,
                     const Tensor& pre, const Tensor& dx, float scale, float keep, const Tensor& dw,
                     const Tensor& dbias) override {
    CheckLayer(dx, w, dy, "dy · wᵀ = dx in shape");
    CheckLayer(x, dw, dy, "xᵀ · dy = dw in shape");
    const double begin = begin_.Uniform();
    ForLanes(w, dy, [&](const LayerPart& part) {
      const Tensor from = part.Outputs(dy), to = part.Inputs(dx), in = part.Inputs(x);
      MultiplyAndUpdate({from, part.Weights(w), to},
                        {in, from, scale, keep, part.Weights(dw), begin}, scratch_);
      MultiplySlope(to, f, in, part.Inputs(pre));
      AddColumnSums(from, scale, keep, part.Outputs(dbias));
    });
  }
  void UpdateAndForward(const DeferredUpdate& update, const Tensor& x, const Tensor& w,
                        const Tensor& bias, Activation f, const Tensor& y, const Tensor& pre,
                        const Tensor& copy) override {
    if (!InterleavesUpdate(x, w, y)) {
      return Device::UpdateAndForward(update, x, w, bias, f, y, pre, copy);
    }
    AddColumnSums(update.dy, update.scale, update.keep, bias);
    UpdateAndMultiply({update.x, update.dy, update.scale, update.keep, w, begin_.Uniform()}, x, y,
                      copy, scratch_);
    Activate(y, bias, f, pre);
  }
  void SparseBackwardWeights(const CsrTensor& x, const Tensor& dy, float scale, float keep,
                             const Tensor& dw, const Tensor& dbias) override {
    if (keep == 0) cpu::Fill(dw, 0);
    AddSparseOuterProduct(x, dy, scale, dw);
    AddColumnSums(dy, scale, keep, dbias);
  }

  void SoftmaxLoss(const Tensor& outputs, const Targets& targets, const Tensor& class_weights,
                   float scale, const Tensor& losses, const Tensor& gradient) override {
    cpu::SoftmaxLoss(outputs, targets, class_weights, scale, losses, gradient);
  }
  void SigmoidLoss(const Tensor& outputs, const Targets& targets, const Tensor& class_weights,
                   float scale, const Tensor& losses, const Tensor& gradient) override {
    cpu::SigmoidLoss(outputs, targets, class_weights, scale, losses, gradient, scratch_);
  }
  void SquaredLoss(const Tensor& outputs, const Targets& targets, float scale, const Tensor& losses,
                   const Tensor& gradient) override {
    cpu::SquaredLoss(outputs, targets, scale, losses, gradient, scratch_);
  }

  void AddScaled(const Tensor& x, float scale, float keep, const Tensor& y) override {
    cpu::AddScaled(x, scale, keep, y);
  }
  void AddRows(const Tensor& x, const DeviceSpan<const std::int32_t>& rows, float scale,
               const Tensor& y) override {
    cpu::AddRows(x, rows, scale, y);
  }
  void ScaleRows(const DeviceSpan<const float>& factors, const Tensor& y) override {
    cpu::ScaleRows(factors, y);
  }
  void ScaleLanes(const DeviceSpan<const float>& factors, const Tensor& y) override {
    cpu::ScaleLanes(factors, y);
  }
  void Fill(const Tensor& y, float value) override { cpu::Fill(y, value); }
  void Momentum(const Tensor& gradient, const MomentumStep& step, const TouchedRows* touched,
                const Tensor& velocity, const Tensor& w) override {
    cpu::Momentum(gradient, step, touched, velocity, w);
  }
  void Adam(const Tensor& gradient, const AdamStep& step, const TouchedRows* touched,
            const Tensor& mean, const Tensor& square, const Tensor& w) override {
    cpu::Adam(gradient, step, touched, mean, square, w);
  }
  void MomentumOfLanes(const Tensor& gradient, const LaneSteps<MomentumStep>& lanes,
                       const TouchedRows* touched, const Tensor& velocity,
                       const Tensor& w) override {
    cpu::MomentumOfLanes(gradient, lanes, touched, velocity, w);
  }
  void AdamOfLanes(const Tensor& gradient, const LaneSteps<AdamStep>& lanes,
                   const TouchedRows* touched, const Tensor& mean, const Tensor& square,
                   const Tensor& w) override {
    cpu::AdamOfLanes(gradient, lanes, touched, mean, square, w);
  }

 private:
  void ComputeForward(const Tensor& x, const Tensor& w, const Tensor& bias, Activation f,
                      const Tensor& y, const Tensor& pre) {
    CheckLayer(x, w, y, "x · w = y in shape");
    ForLanesOrBands(w, y, [&](const LayerPart& part) {
      const Tensor to = part.Outputs(y);
      MultiplyForward(part.Inputs(x), part.Weights(w), to, scratch_);
      Activate(to, part.Outputs(bias), f, part.Outputs(pre));
    });
  }

  DeviceInfo info_;
  Scratch scratch_;
  Random begin_;  // where an update begins: elsewhere on each core and each time
};

}  // namespace

std::unique_ptr<Device> MakeDevice(DeviceInfo info) {
  return std::make_unique<CpuDevice>(std::move(info));
}

}  // namespace hogbatch::cpu
