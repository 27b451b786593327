#include "runtime/workers/private_gradient.h"

#include <algorithm>

namespace hogbatch {

PrivateGradient::PrivateGradient(const ModelSpec& spec, Device& device)
    : sparse_input_(spec.sparse_input),
      blocks_(device, sparse_input_ ? WithFirstHeight(Layout(spec), 1) : Layout(spec)) {
  for (const LayerView& view : blocks_.views()) {
    layers_.push_back(
        {.weights = view.weights, .bias = view.bias, .touched = {}, .touched_on_host = {}});
    targets_.push_back({.weights = view.weights, .bias = view.bias});
  }
}

std::span<const GradientTarget> PrivateGradient::Targets(
    std::span<const std::int32_t> touched, DeviceSpan<const std::int32_t> touched_on_device) {
  if (sparse_input_) {
    blocks_.SetFirstHeight(std::max<std::int64_t>(1, static_cast<std::int64_t>(touched.size())));
    const LayerView& view = blocks_.views().front();
    layers_.front() = {.weights = view.weights,
                       .bias = view.bias,
                       .touched = touched_on_device,
                       .touched_on_host = touched,
                       .is_sparse = true};
    targets_.front() = {.weights = view.weights, .bias = view.bias};
  }
  return targets_;
}

}  // namespace hogbatch
