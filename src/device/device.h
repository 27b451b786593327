// The whole contract between the network and what computes it.
//
// Calls are queued and run in order. They may return before they are done; only Wait() and
// WaitFor() block. Memory that a call uses must not change until a later Wait(), or until a
// WaitFor() for a mark set after the call. A device belongs to one thread. Any call may throw
// DeviceError. After that the device can only be destroyed, unless the error is OutOfDeviceMemory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

#include "device/activation.h"
#include "device/device_info.h"
#include "device/tensor.h"

namespace hogbatch {

// How an optimiser turns a gradient into a step. Decay is decoupled from the gradient: weights are
// first multiplied by `keep`, 1 - learning_rate · decay.
struct MomentumStep {
  float learning_rate;
  float momentum;
  float keep = 1;
};
struct AdamStep {
  float learning_rate;  // corrected for the bias of young moments
  float beta1;
  float beta2;
  float epsilon;
  float keep = 1;
};

// Steps of lanes, one for each. A lane has `rows` × `cols` of the weights: element (r, c) belongs
// to lane r / rows + c / cols, so lanes lie one below the other or side by side. With touched rows
// they lie side by side.
template <typename Step>
struct LaneSteps {
  DeviceSpan<const Step> steps;
  std::int64_t rows;
  std::int64_t cols;
};

// The rows of a sparse layer that an update touches. A step makes up for the momentum and the decay
// of this worker's updates that did not touch a row.
struct TouchedRows {
  DeviceSpan<const std::int32_t> rows;  // ascending; gradient row i belongs to weight row rows[i]
  DeviceSpan<const std::int32_t> skipped;  // updates that did not touch it since one last did
};

// What the outputs should have been: classes, labels or values.
struct Targets {
  DeviceSpan<const std::int32_t> classes = {};  // one per row
  // Row r has labels[label_offsets[r]] to labels[label_offsets[r + 1] - 1].
  DeviceSpan<const std::int64_t> label_offsets = {};
  DeviceSpan<const std::int32_t> labels = {};
  DeviceSpan<const float> values = {};   // one per row and output
  DeviceSpan<const float> weights = {};  // one per row; empty: all rows weigh the same
};

// What DenseBackwardWeights adds to the weights of a layer and its biases.
struct DeferredUpdate {
  Tensor x;
  Tensor dy;
  float scale = 1;
  float keep = 1;
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

  // Host memory that the device can copy from and to directly. Transfers of other host memory may
  // cost the host another copy. Contents are undefined. It may be freed while queued work uses it.
  virtual void* AllocateHost(std::size_t bytes) {
    return ::operator new(bytes, std::align_val_t{kHostAlignment});
  }
  virtual void FreeHost(void* memory) noexcept {
    ::operator delete(memory, std::align_val_t{kHostAlignment});
  }

  // A place in the queue, after everything queued so far. Marks never descend.
  virtual std::int64_t SetMark() { return 0; }
  // Blocks until all calls before the mark are done and their downloads have arrived. Later calls
  // may go on meanwhile. A device may wait for everything instead.
  virtual void WaitFor(std::int64_t /*mark*/) { Wait(); }

  // Lanes are models of one shape that are computed together. Their outputs lie side by side in y.
  // If y is wider than w, w holds y.cols / w.cols lanes one below the other, and lane i multiplies
  // its own columns of x with its own rows of w. The same holds for dy and dw. A first layer, where
  // all lanes read the same x, is an ordinary, wider layer. No number of a lane reaches another
  // one, not even NaN.
  //
  // y = f(x · w + bias). `pre` receives x · w + bias if the activation's slope needs it (GELU);
  // otherwise it is empty.
  virtual void DenseForward(const Tensor& x, const Tensor& w, const Tensor& bias, Activation f,
                            const Tensor& y, const Tensor& pre) = 0;
  virtual void SparseForward(const CsrTensor& x, const Tensor& w, const Tensor& bias, Activation f,
                             const Tensor& y, const Tensor& pre) = 0;
  // dx = (dy · wᵀ) ⊙ f'(x): f is the activation that made x, `pre` what it was made from (GELU).
  virtual void DenseBackwardData(const Tensor& dy, const Tensor& w, Activation f, const Tensor& x,
                                 const Tensor& pre, const Tensor& dx) = 0;
  // dw = keep · dw + scale · xᵀ · dy, dbias = (keep == 0 ? 0 : dbias) + scale · Σ rows of dy. With
  // keep 0 dw may hold anything before. dw and dbias may be shared weights (then scale is
  // -learning_rate).
  virtual void DenseBackwardWeights(const Tensor& x, const Tensor& dy, float scale, float keep,
                                    const Tensor& dw, const Tensor& dbias) = 0;
  // DenseBackwardData and then DenseBackwardWeights. A device may interleave the two: a part of dw,
  // which may be w, is written after that part of w was read for dx.
  virtual void DenseBackward(const Tensor& dy, const Tensor& w, Activation f, const Tensor& x,
                             const Tensor& pre, const Tensor& dx, float scale, float keep,
                             const Tensor& dw, const Tensor& dbias) {
    DenseBackwardData(dy, w, f, x, pre, dx);
    DenseBackwardWeights(x, dy, scale, keep, dw, dbias);
  }
  // DenseBackwardWeights of an earlier batch into w and bias, and then DenseForward of the next
  // one. `copy`, if it is not empty, receives w as the forward pass used it. A device may
  // interleave the two, so that weights which others change meanwhile are touched once.
  virtual void UpdateAndForward(const DeferredUpdate& update, const Tensor& x, const Tensor& w,
                                const Tensor& bias, Activation f, const Tensor& y,
                                const Tensor& pre, const Tensor& copy) {
    DenseBackwardWeights(update.x, update.dy, update.scale, update.keep, w, bias);
    if (!copy.empty()) AddScaled(w, 1, 0, copy);
    DenseForward(x, w, bias, f, y, pre);
  }
  // DenseBackwardWeights for sparse x, but only those rows of dw change that columns of x name.
  // keep is 0 or 1; 0 clears all of dw first. An empty dbias is left alone.
  virtual void SparseBackwardWeights(const CsrTensor& x, const Tensor& dy, float scale, float keep,
                                     const Tensor& dw, const Tensor& dbias) = 0;

  // Losses. Each call writes one loss per row and lane, and the gradient at the outputs times
  // `scale` (1 / rows for a mean). `losses` has one row per row of the batch and one column per
  // lane; of one lane it may also be a vector. Lanes have equally many outputs, the same targets,
  // and the same class weights or one row of them each. An empty gradient is not written. The
  // gradient and the outputs do not overlap.
  //
  // Softmax cross-entropy. A row's loss and gradient are multiplied by its class's weight (empty:
  // 1).
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
  // Multiplies row i of y by factors[i].
  virtual void ScaleRows(const DeviceSpan<const float>& factors, const Tensor& y) = 0;
  // Multiplies the columns of lane i by factors[i]; lanes have equally many. With factor 0 they
  // become 0, even NaN.
  virtual void ScaleLanes(const DeviceSpan<const float>& factors, const Tensor& y) = 0;
  virtual void Fill(const Tensor& y, float value) = 0;

  // Optimiser steps on w, which may be shared weights, with private state. With `touched`, gradient
  // row i belongs to row touched->rows[i] of the state and of w; but if w has as many rows as the
  // gradient, it holds only the touched rows. Without momentum the velocity may be empty: w = keep
  // · w - learning_rate · gradient.
  virtual void Momentum(const Tensor& gradient, const MomentumStep& step,
                        const TouchedRows* touched, const Tensor& velocity, const Tensor& w) = 0;
  virtual void Adam(const Tensor& gradient, const AdamStep& step, const TouchedRows* touched,
                    const Tensor& mean, const Tensor& square, const Tensor& w) = 0;
  // The same, with a step for each lane.
  virtual void MomentumOfLanes(const Tensor& gradient, const LaneSteps<MomentumStep>& lanes,
                               const TouchedRows* touched, const Tensor& velocity,
                               const Tensor& w) = 0;
  virtual void AdamOfLanes(const Tensor& gradient, const LaneSteps<AdamStep>& lanes,
                           const TouchedRows* touched, const Tensor& mean, const Tensor& square,
                           const Tensor& w) = 0;

 protected:
  static constexpr std::size_t kHostAlignment = 64;
};

}  // namespace hogbatch
