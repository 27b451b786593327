#include "runtime/workers/deferred_updates.h"

#include "core/error.h"

namespace hogbatch {

DeferredUpdates::DeferredUpdates(const ModelSpec& spec, Device& device,
                                 std::span<const LayerView> weights)
    : device_(device), weights_(weights) {
  // The last batch of a range of rows may be half as large again.
  for (std::optional<Model>& model : models_) {
    model.emplace(spec, device, kMostRows + kMostRows / 2 + 1, Use::kDeferredUpdates);
  }
  for (const LayerView& layer : weights) {
    const Tensor& w = layer.weights;
    AlignedFloats& floats = memory_.emplace_back(copies_.empty() ? 0 : w.rows * w.cols);
    copies_.push_back(
        copies_.empty() ? Tensor{}
                        : Tensor::Matrix(HostSpan(floats.data(), w.rows * w.cols), w.rows, w.cols));
  }
}

bool DeferredUpdates::Suits(const ModelSpec& spec) {
  constexpr std::int64_t kMostFloats = std::int64_t{4} << 20;
  const std::vector<LayerShape> layers = Layout(spec).layers;
  std::int64_t floats = 0;
  for (std::size_t i = 1; i < layers.size(); ++i) floats += layers[i].in * layers[i].out;
  return floats > 0 && floats <= kMostFloats;
}

void DeferredUpdates::Forward(const BatchInput& input, std::span<const GradientTarget> targets) {
  if (is_pending_) {
    const BatchInput before = input_;
    Model& last = now();
    turn_ = 1 - turn_;
    is_pending_ = false;
    now().ForwardAfter({.before = last, .input = before, .targets = targets_}, input, weights_,
                       copies_);
  } else {
    for (std::size_t i = 1; i < copies_.size(); ++i) {
      device_.AddScaled(weights_[i].weights, 1, 0, copies_[i]);
    }
    now().Forward(input, weights_);
  }
  input_ = input;
  targets_.assign(targets.begin(), targets.end());
}

void DeferredUpdates::Backward() {
  now().BackwardToOutputs(copies_);
  is_pending_ = true;
}

void DeferredUpdates::Flush() {
  if (!is_pending_) return;
  is_pending_ = false;
  for (std::size_t i = 0; i < weights_.size(); ++i) now().AddGradient(i, input_, targets_[i]);
}

}  // namespace hogbatch
