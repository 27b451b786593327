// Forward and backward over a range of layers, on any device. Back-propagation is written here and
// nowhere else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "device/buffer.h"
#include "device/device.h"
#include "nn/model_spec.h"

namespace hogbatch {

// One layer's parameters where the device can reach them: the store, a replica or a snapshot.
struct LayerView {
  Tensor weights;
  Tensor bias;
};

// Views of all layers in a flat array of `layout`.
std::vector<LayerView> ViewLayers(const ParameterLayout& layout, DeviceSpan<float> flat);

// Input rows on the device, either dense or sparse.
struct BatchInput {
  Tensor dense;
  CsrTensor sparse;
  bool is_sparse = false;

  std::int64_t rows() const { return is_sparse ? sparse.rows : dense.rows; }
};

// Where a layer's gradient goes: target = keep · target + scale · gradient. Into private memory
// with keep 0 and scale 1, or straight into shared weights with scale -rate and keep 1 - rate ·
// decay.
struct GradientTarget {
  Tensor weights;
  Tensor bias;
  float scale = 1;
  float keep = 0;
};

// Inference needs far less scratch. Deferred updates keep the gradients of all layers.
enum class Use : std::uint8_t { kTraining, kDeferredUpdates, kInference };

// Bytes of device memory that a Model takes for batches of up to `max_rows` rows.
std::int64_t ScratchBytes(const ParameterLayout& layout, std::int64_t max_rows, Use use);

// A network's arithmetic on one device, with the scratch (activations, their gradients, losses) for
// batches of up to `max_rows` rows. Holds no parameters: they come as views with every call.
class Model {
 public:
  Model(const ModelSpec& spec, Device& device, std::int64_t max_rows, Use use);

  const ModelSpec& spec() const { return spec_; }
  const ParameterLayout& layout() const { return layout_; }
  std::int64_t max_rows() const { return max_rows_; }

  // Runs the layers; returns the last one's outputs (a view of scratch, good until the next call).
  Tensor Forward(const BatchInput& input, std::span<const LayerView> layers);

  // After Forward: computes the loss of each row (returned, in scratch) and the gradient at the
  // outputs of their mean over the batch. A sigmoid loss is summed over the outputs for it.
  // `class_weights` may be empty. Of several lanes the losses have a column each, and the gradient
  // of lane i is multiplied by lane_factors[i]: its learning rate, or 0 for a lane that is stopped
  // (empty: by 1).
  Tensor ComputeLoss(const Targets& targets, const Tensor& class_weights,
                     const DeviceSpan<const float>& lane_factors = {});

  // After ComputeLoss: walks from the last layer to the first. A layer's target is written after
  // its weights were used, so targets may be the weights themselves. For sparse input `first` is
  // used as the input of layer 0's weight gradient: with private memory its columns count the rows
  // of the target, not the features. `on_layer` is called when a layer's target and all uses of its
  // weights are queued.
  using OnLayer = std::function<void(std::size_t layer)>;
  void Backward(const BatchInput& input, const BatchInput& first, std::span<const LayerView> layers,
                std::span<const GradientTarget> targets, const OnLayer& on_layer = nullptr);

  // Deferred updates: the gradient of a batch is added to the weights during the forward pass of
  // the next one, in another Model. First BackwardToOutputs instead of Backward; it reads
  // `weights`, of which that of layer 0 is not used. AddGradient then makes the update of a layer.
  void BackwardToOutputs(std::span<const Tensor> weights);
  struct Deferred {
    Model& before;
    const BatchInput& input;                  // of `before`
    std::span<const GradientTarget> targets;  // the layers' own weights
  };
  // Forward, with a deferred update in each layer that reads dense rows. copies[i] receives the
  // weights of layer i as they were used; empty: not wanted.
  Tensor ForwardAfter(const Deferred& deferred, const BatchInput& input,
                      std::span<const LayerView> layers, std::span<const Tensor> copies);

  // From on_layer: the layer's gradient once more, into another target. `first` is Backward's.
  void AddGradient(std::size_t layer, const BatchInput& first, const GradientTarget& target);

  // Between ComputeLoss and Backward: what makes the gradient of the last layer. `x` is empty if
  // that layer reads sparse rows.
  struct LastLayer {
    Tensor x;
    Tensor dy;
  };
  LastLayer last_layer(const BatchInput& input) const;

 private:
  // What a layer that reads dense rows has read.
  Tensor InputOf(std::size_t layer, const BatchInput& input) const;
  // `dense(i, x, f, y)` computes layer i of dense rows x.
  template <typename Dense>
  Tensor ForwardLayers(const BatchInput& input, std::span<const LayerView> layers,
                       const Dense& dense);
  // Before activation, where that is kept; else empty.
  Tensor PreOf(std::size_t layer) const;

  ModelSpec spec_;
  ParameterLayout layout_;
  Device& device_;
  std::int64_t max_rows_;
  std::int64_t rows_ = 0;
  Buffer memory_;
  std::vector<Tensor> outputs_;    // of each layer
  std::vector<Tensor> pre_;        // before the activation, where its slope needs it
  std::vector<Tensor> gradients_;  // at the outputs; two are shared in turn by all layers
  Tensor losses_;
};

}  // namespace hogbatch
