// The whole contract between the network and what computes it.
//
// Calls queue in order and may return before they are done; only Wait() and WaitFor() block. Memory
// handed to a call must stay as it is until a Wait() after it, or a WaitFor() a mark set after it.
// A device belongs to one thread. Any call may throw DeviceError; the device is then to be
// destroyed, unless it was OutOfDeviceMemory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

#include "device/activation.h"
#include "device/device_info.h"
#include "device/tensor.h"

namespace hogbatch {

// How an update turns a gradient g into a step, beside its rate. Decay is decoupled from the
// gradient: weights are first multiplied by 1 - rate * decay.
struct MomentumStep {
  float rate;
  float momentum;
  float keep = 1;  // 1 - rate * decay
};
struct AdamStep {
  float rate;  // already corrected for the bias of young moments
  float beta1;
  float beta2;
  float epsilon;
  float keep = 1;
};

// Rows of a sparse layer that an update touches, and how many updates of this worker passed each by
// since its last touch: momentum and decay are made up for then.
struct TouchedRows {
  DeviceSpan<const std::int32_t> rows;  // ascending; gradient row i belongs to weight row rows[i]
  DeviceSpan<const std::int32_t>
      skipped;  // updates since the last touch, 0 for a row touched every time
};

// What a row's output should have been: exactly one member is filled.
struct Targets {
  DeviceSpan<const std::int32_t> classes = {};  // one class a row
  DeviceSpan<const std::int64_t> label_offsets =
      {};  // labels of row r: labels[offsets[r]] … as in CsrTensor
  DeviceSpan<const std::int32_t> labels = {};
  DeviceSpan<const float> values = {};  // one number a row and output
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const = 0;

  // Memory. Addresses are aligned to 64 bytes; contents are undefined.
  virtual void* Allocate(std::size_t bytes) = 0;
  virtual void Free(void* base) noexcept = 0;
  virtual void Upload(std::span<const std::byte> from, void* base, std::size_t offset_bytes) = 0;
  virtual void Download(const void* base, std::size_t offset_bytes, std::span<std::byte> to) = 0;
  virtual void Wait() = 0;

  // Host memory that the device copies from and to by itself: transfers of any other may take a
  // detour that costs the host a copy. Contents are undefined. It may be freed behind queued work.
  virtual void* AllocateHost(std::size_t bytes) {
    return ::operator new(bytes, std::align_val_t{kHostAlignment});
  }
  virtual void FreeHost(void* memory) noexcept {
    ::operator delete(memory, std::align_val_t{kHostAlignment});
  }

  // A place in the queue, behind everything queued so far. Marks never descend.
  virtual std::int64_t SetMark() { return 0; }
  // Blocks until all that was queued before the mark is done and downloads among it have arrived;
  // what was queued after it may go on meanwhile. To wait for everything is always right.
  virtual void WaitFor(std::int64_t /*mark*/) { Wait(); }

  // y = f(x · w + bias). `pre` keeps x · w + bias where the activation's slope needs it (GELU),
  // else empty.
  virtual void DenseForward(const Tensor& x, const Tensor& w, const Tensor& bias, Activation f,
                            const Tensor& y, const Tensor& pre) = 0;
  virtual void SparseForward(const CsrTensor& x, const Tensor& w, const Tensor& bias, Activation f,
                             const Tensor& y, const Tensor& pre) = 0;
  // dx = (dy · wᵀ) ⊙ f'(x): f is the activation that made x, `pre` what it was made from (GELU).
  virtual void DenseBackwardData(const Tensor& dy, const Tensor& w, Activation f, const Tensor& x,
                                 const Tensor& pre, const Tensor& dx) = 0;
  // dw = keep · dw + scale · xᵀ · dy, dbias = (keep == 0 ? 0 : dbias) + scale · Σ rows of dy. With
  // keep 0 dw may hold anything before. dw and dbias may be shared weights (then scale is -rate).
  virtual void DenseBackwardWeights(const Tensor& x, const Tensor& dy, float scale, float keep,
                                    const Tensor& dw, const Tensor& dbias) = 0;
  // The same for sparse x, but dw only changes in the rows x's columns name, and keep is 0 or 1;
  // with keep 0 all of dw is cleared first (dw is then as small as the columns x uses). An empty
  // dbias is left alone.
  virtual void SparseBackwardWeights(const CsrTensor& x, const Tensor& dy, float scale, float keep,
                                     const Tensor& dw, const Tensor& dbias) = 0;

  // Losses. Each writes a loss a row, and d loss / d outputs times `scale` (1 / rows for a mean);
  // an empty gradient is not written, and never lies where the outputs do. `losses` is a vector, or
  // a column as high as the batch. Softmax cross-entropy; a row's loss and gradient are multiplied
  // by its class's weight (empty: 1).
  virtual void SoftmaxLoss(const Tensor& outputs, const Targets& targets,
                           const Tensor& class_weights, float scale, const Tensor& losses,
                           const Tensor& gradient) = 0;
  // Mean over the outputs of sigmoid cross-entropy; class_weights multiply the positive terms.
  virtual void SigmoidLoss(const Tensor& outputs, const Targets& targets,
                           const Tensor& class_weights, float scale, const Tensor& losses,
                           const Tensor& gradient) = 0;
  // Mean over the outputs of (output - value)².
  virtual void SquaredLoss(const Tensor& outputs, const Targets& targets, float scale,
                           const Tensor& losses, const Tensor& gradient) = 0;

  // y = keep · y + scale · x; y may be shared weights.
  virtual void AddScaled(const Tensor& x, float scale, float keep, const Tensor& y) = 0;
  // y[rows[i]] += scale · x[i] for each row i of x; a negative rows[i] leaves row i out. The others
  // ascend without repetition. y may be shared weights, but x and y do not overlap.
  virtual void AddRows(const Tensor& x, const DeviceSpan<const std::int32_t>& rows, float scale,
                       const Tensor& y) = 0;
  virtual void Fill(const Tensor& y, float value) = 0;

  // Optimiser steps on w (which may be shared weights) with private state. With `touched`, gradient
  // row i belongs to row touched->rows[i] of the state, and of w unless w has just as many rows as
  // the gradient: then w holds the touched rows alone. Without momentum there may be no velocity:
  // w = keep · w - rate · gradient.
  virtual void Momentum(const Tensor& gradient, const MomentumStep& step,
                        const TouchedRows* touched, const Tensor& velocity, const Tensor& w) = 0;
  virtual void Adam(const Tensor& gradient, const AdamStep& step, const TouchedRows* touched,
                    const Tensor& mean, const Tensor& square, const Tensor& w) = 0;

 protected:
  static constexpr std::size_t kHostAlignment = 64;
};

}  // namespace hogbatch
