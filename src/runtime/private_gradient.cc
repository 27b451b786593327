#include "runtime/private_gradient.h"

namespace hogbatch {

PrivateGradient::PrivateGradient(const ModelSpec& spec, Device& device)
    : device_(device), sparse_input_(spec.sparse_input) {
  const ParameterLayout whole = Layout(spec);
  first_width_ = whole.layers.front().out;
  ParameterLayout layout;
  for (const LayerShape& shape : whole.layers) {
    // The first layer's weights have no place here if rows of them come and go.
    const bool elsewhere = sparse_input_ && layout.layers.empty();
    layout.Append(elsewhere ? 0 : shape.in, shape.out, shape.activation);
  }
  memory_ = Buffer(device, static_cast<std::size_t>(layout.floats) * sizeof(float));
  for (const LayerView& view : ViewLayers(layout, memory_.span<float>())) {
    layers_.push_back({.weights = view.weights, .bias = view.bias, .touched = {}});
    targets_.push_back({.weights = view.weights, .bias = view.bias});
  }
}

std::span<const GradientTarget> PrivateGradient::Targets(std::span<const std::int32_t> touched) {
  if (sparse_input_) {
    const auto rows = static_cast<std::int64_t>(touched.size());
    const auto bytes = static_cast<std::size_t>(rows * first_width_) * sizeof(float);
    if (first_.bytes() < bytes) first_ = Buffer(device_, bytes + bytes / 2);
    LayerGradient& first = layers_.front();
    first.weights = Tensor::Matrix(first_.span<float>(), rows, first_width_);
    first.touched = HostSpan(touched.data(), rows);
    first.touched_on_host = touched;
    first.is_sparse = true;
    targets_.front().weights = first.weights;
  }
  return targets_;
}

}  // namespace hogbatch
