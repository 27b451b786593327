#include "runtime/workers/delta_maker.h"

#include <algorithm>

#include "core/error.h"

namespace hogbatch {
namespace {

// The weights of a layer, a gap and its biases, as in a layer's block of the layout.
std::int64_t FloatsOf(const LayerShape& shape) {
  return shape.bias_at - shape.weights_at + shape.width;
}

// Of the largest layer that is made aside.
std::int64_t AsideBytes(const ParameterLayout& layout, bool sparse_input) {
  std::int64_t most = 0;
  for (std::size_t i = sparse_input ? 1 : 0; i < layout.layers.size(); ++i) {
    most = std::max(most, FloatsOf(layout.layers[i]));
  }
  return most * static_cast<std::int64_t>(sizeof(float));
}

}  // namespace

DeltaMaker::DeltaMaker(const ModelSpec& spec, const OptimizerOptions& options, double momentum,
                       Device& device)
    : device_(device),
      layout_(Layout(spec)),
      sparse_input_(spec.sparse_input),
      decay_(options.weight_decay),
      optimizer_(MakeOptimizer(options, momentum, spec, device)),
      touched_(device) {
  if (!optimizer_->direct()) gradient_.emplace(spec, device);
}

std::span<const GradientTarget> DeltaMaker::Targets(float learning_rate,
                                                    std::span<const std::int32_t> touched,
                                                    std::span<const LayerView> delta,
                                                    Destination destination) {
  Check(destination == Destination::kDelta || direct(), "updates with state are merged one by one");
  destination_ = destination;
  if (gradient_) {
    touched_.Restart();
    return gradient_->Targets(touched, touched_.Upload(touched));
  }
  if (destination == Destination::kAside && aside_.bytes() == 0) {
    aside_ = Buffer(device_, AsideBytes(layout_, sparse_input_));
  }
  targets_.clear();
  for (std::size_t i = 0; i < delta.size(); ++i) {
    const LayerView to = IsAside(i) ? Aside(i) : delta[i];
    const bool replaces = destination == Destination::kDelta || IsAside(i);
    targets_.push_back({.weights = to.weights,
                        .bias = to.bias,
                        .scale = -learning_rate,
                        .keep = replaces ? 0.0f : 1.0f});
  }
  return targets_;
}

LayerView DeltaMaker::Aside(std::size_t layer) const {
  const LayerShape& shape = layout_.layers[layer];
  const DeviceSpan<float> all = aside_.span<float>();
  return {.weights = Tensor::Matrix(all, shape.in, shape.out),
          .bias = Tensor::Vector(all.Sub(shape.bias_at - shape.weights_at, shape.width))};
}

void DeltaMaker::Make(std::size_t layer, float learning_rate, std::int64_t update,
                      const LayerView& replica, const LayerView& delta) {
  if (gradient_) StepLayer(layer, learning_rate, update, replica, delta);
  const LayerView made = IsAside(layer) ? Aside(layer) : delta;
  const float shrinks_by = Keep(decay_, learning_rate) - 1;
  const bool by_rows = gradient_ && gradient_->layers()[layer].is_sparse;
  if (shrinks_by != 0 && !by_rows) {
    device_.AddScaled(replica.weights, shrinks_by, 1, made.weights);
  }
  if (!IsAside(layer)) return;
  device_.AddScaled(made.weights, 1, 1, delta.weights);
  device_.AddScaled(made.bias, 1, 1, delta.bias);
}

bool DeltaMaker::AddToReplica(std::size_t layer, const LayerView& replica, const LayerView& delta) {
  Check(destination_ != Destination::kOnDelta, "an update that is part of Δ cannot be told apart");
  if (destination_ == Destination::kAside && !IsAside(layer)) return false;
  const LayerView made = IsAside(layer) ? Aside(layer) : delta;
  device_.AddScaled(made.weights, 1, 1, replica.weights);
  device_.AddScaled(made.bias, 1, 1, replica.bias);
  return true;
}

// A step from zero is what the step adds; Make adds the decay, which needs the weights. Rows of a
// sparse layer also have to make up for the decay of updates that did not touch them. Only the
// optimiser knows that factor, so they are stepped in a copy of the weights, which is then
// subtracted.
void DeltaMaker::StepLayer(std::size_t layer, float learning_rate, std::int64_t update,
                           const LayerView& replica, const LayerView& delta) {
  const LayerGradient& gradient = gradient_->layers()[layer];
  const bool decays_by_rows = gradient.is_sparse && decay_ > 0;
  device_.Fill(delta.bias, 0);
  if (decays_by_rows) {
    device_.AddScaled(replica.weights, 1, 0, delta.weights);
  } else {
    device_.Fill(delta.weights, 0);
  }
  optimizer_->Step(static_cast<int>(layer), gradient, learning_rate, update, delta);
  if (decays_by_rows) device_.AddScaled(replica.weights, -1, 1, delta.weights);
}

std::int64_t DeltaMaker::Bytes(const ModelSpec& spec, const OptimizerOptions& options,
                               double momentum, std::int64_t touched) {
  const ParameterLayout whole = Layout(spec);
  const std::int64_t sparse_rows = spec.sparse_input ? spec.inputs : 0;
  const std::int64_t state = OptimizerBytes(options, momentum, whole, sparse_rows);
  if (IsDirect(options, momentum, sparse_rows)) return state + AsideBytes(whole, spec.sparse_input);
  const ParameterLayout gradient = spec.sparse_input ? WithFirstHeight(whole, touched) : whole;
  const auto rows = static_cast<std::int64_t>(sizeof(std::int32_t)) * touched;
  return state + gradient.floats * static_cast<std::int64_t>(sizeof(float)) +
         ReusedMemory::BlockBytes(spec.sparse_input ? rows : 0);
}

}  // namespace hogbatch
