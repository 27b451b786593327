#include "runtime/workers/delta_maker.h"

#include <algorithm>
#include <limits>

#include "core/error.h"

namespace hogbatch {

DeltaMaker::DeltaMaker(const ModelSpec& spec, const OptimizerOptions& options, double momentum,
                       Device& device)
    : device_(device),
      decay_(options.weight_decay),
      optimizer_(MakeOptimizer(options, momentum, spec, device)),
      touched_(device) {
  if (!optimizer_->direct()) gradient_.emplace(spec, device);
}

std::span<const GradientTarget> DeltaMaker::Targets(float rate,
                                                    std::span<const std::int32_t> touched,
                                                    std::span<const LayerView> delta, Order order) {
  Check(order == Order::kFirst || direct(), "updates with state are merged one by one");
  if (gradient_) {
    touched_.Restart();
    return gradient_->Targets(touched, touched_.Upload(touched));
  }
  targets_.clear();
  for (const LayerView& layer : delta) {
    targets_.push_back({.weights = layer.weights,
                        .bias = layer.bias,
                        .scale = -rate,
                        .keep = order == Order::kFirst ? 0.0f : 1.0f});
  }
  return targets_;
}

void DeltaMaker::Make(std::size_t layer, float rate, std::int64_t update, const LayerView& replica,
                      const LayerView& delta) {
  if (gradient_) StepLayer(layer, rate, update, replica, delta);
  const float shrinks_by = Keep(decay_, rate) - 1;
  const bool by_rows = gradient_ && gradient_->layers()[layer].is_sparse;
  if (shrinks_by != 0 && !by_rows) {
    device_.AddScaled(replica.weights, shrinks_by, 1, delta.weights);
  }
}

GradientTarget DeltaMaker::OnReplica(float rate, const LayerView& replica) const {
  Check(direct(), "what an optimiser with state adds is not known before its step");
  // Not even decay that keeps nothing may read as "clear the target", biases and all.
  const float keep = std::max(Keep(decay_, rate), std::numeric_limits<float>::min());
  return {.weights = replica.weights, .bias = replica.bias, .scale = -rate, .keep = keep};
}

// A step from zero is what the step adds: decay, which needs the weights, is added by Make. Only
// rows of a sparse layer have decay to make up for, by a factor the optimiser knows: they are
// stepped in a copy, from which the weights are then taken off.
void DeltaMaker::StepLayer(std::size_t layer, float rate, std::int64_t update,
                           const LayerView& replica, const LayerView& delta) {
  const LayerGradient& gradient = gradient_->layers()[layer];
  const bool decays_by_rows = gradient.is_sparse && decay_ > 0;
  device_.Fill(delta.bias, 0);
  if (decays_by_rows) {
    device_.AddScaled(replica.weights, 1, 0, delta.weights);
  } else {
    device_.Fill(delta.weights, 0);
  }
  optimizer_->Step(static_cast<int>(layer), gradient, rate, update, delta);
  if (decays_by_rows) device_.AddScaled(replica.weights, -1, 1, delta.weights);
}

std::int64_t DeltaMaker::Bytes(const ModelSpec& spec, const OptimizerOptions& options,
                               double momentum, std::int64_t touched) {
  const ParameterLayout whole = Layout(spec);
  const std::int64_t sparse_rows = spec.sparse_input ? spec.inputs : 0;
  const std::int64_t state = OptimizerBytes(options, momentum, whole, sparse_rows);
  if (IsDirect(options, momentum, sparse_rows)) return state;
  const ParameterLayout gradient = spec.sparse_input ? WithFirstHeight(whole, touched) : whole;
  const auto rows = static_cast<std::int64_t>(sizeof(std::int32_t)) * touched;
  return state + gradient.floats * static_cast<std::int64_t>(sizeof(float)) +
         ReusedMemory::BlockBytes(spec.sparse_input ? rows : 0);
}

}  // namespace hogbatch
