#include "runtime/common_step.h"

#include <algorithm>

#include "core/error.h"

namespace hogbatch {
namespace {

RowRange SliceOf(const Task& task, std::int64_t rows) {
  return Part({0, rows}, task.slice, task.slices);
}

// The layout of optimiser state for one slice of every layer.
ParameterLayout SliceLayout(const ParameterLayout& whole, const Task& task) {
  ParameterLayout slice;
  for (const LayerShape& shape : whole.layers) {
    slice.Append(SliceOf(task, shape.in).size(), shape.out, shape.activation);
  }
  return slice;
}

}  // namespace

void CommonStep::Apply(const Task& task) {
  if (task.slice != slice_ || task.slices != slices_) {
    slice_ = task.slice;
    slices_ = task.slices;
    updates_ = 0;
    const ParameterLayout layout = SliceLayout(memory_.store.layout(), task);
    const std::int64_t sparse_rows = memory_.model.sparse_input ? layout.layers.front().in : 0;
    optimizer_ =
        MakeOptimizer(memory_.optimizer, memory_.explicit_momentum, layout, sparse_rows, device_);
  }
  ++updates_;
  AppliedSlice& applied = memory_.applied[static_cast<std::size_t>(task.slice)];
  if (applied.step != task.step) applied = {.step = task.step, .layers = 0};
  for (; applied.layers < memory_.store.layout().layers.size(); ++applied.layers) {
    ApplyLayer(task, applied.layers);
  }
}

void CommonStep::ApplyLayer(const Task& task, std::size_t layer) {
  const std::vector<Contribution> parts = Gather(task.step, layer);
  const LayerView& whole = memory_.store.views()[layer];
  const RowRange rows = SliceOf(task, whole.weights.rows);
  LayerGradient gradient =
      parts.front().gradient->is_sparse ? SumSparse(parts, rows) : SumDense(parts, rows);
  LayerView view{.weights = whole.weights.Slice(rows.begin, rows.size()), .bias = {}};
  if (task.slice == 0) {
    view.bias = whole.bias;
    bias_ = Buffer(device_, static_cast<std::size_t>(whole.bias.cols) * sizeof(float));
    gradient.bias = Tensor::Vector(bias_.span<float>());
    for (const Contribution& part : parts) {
      device_.AddScaled(part.gradient->bias, part.share, &part == parts.data() ? 0.0f : 1.0f,
                        gradient.bias);
    }
  }
  optimizer_->Step(static_cast<int>(layer), gradient, task.rate, updates_, view);
  device_.Wait();
}

std::vector<CommonStep::Contribution> CommonStep::Gather(std::int64_t step,
                                                         std::size_t layer) const {
  std::int64_t rows = 0;
  for (const HeldGradient& held : memory_.held) rows += held.step == step ? held.rows : 0;
  std::vector<Contribution> parts;
  for (const HeldGradient& held : memory_.held) {
    if (held.step != step) continue;
    const auto share = static_cast<double>(held.rows) / static_cast<double>(rows);
    parts.push_back({&held.layers[layer], static_cast<float>(share)});
  }
  Check(!parts.empty(), "a common step without gradients");
  return parts;
}

LayerGradient CommonStep::SumDense(std::span<const Contribution> parts, RowRange rows) {
  const Tensor sum = Scratch(rows.size(), parts.front().gradient->weights.cols);
  for (const Contribution& part : parts) {
    device_.AddScaled(part.gradient->weights.Slice(rows.begin, rows.size()), part.share,
                      &part == parts.data() ? 0.0f : 1.0f, sum);
  }
  return {.weights = sum, .bias = {}, .touched = {}};
}

LayerGradient CommonStep::SumSparse(std::span<const Contribution> parts, RowRange rows) {
  const auto in_slice = [&](std::int32_t row) { return row >= rows.begin && row < rows.end; };
  const auto first = static_cast<std::int32_t>(rows.begin);
  touched_.clear();
  for (const Contribution& part : parts) {
    const std::span<const std::int32_t> named(
        part.gradient->touched.host(), static_cast<std::size_t>(part.gradient->touched.size));
    for (const std::int32_t row : named) {
      if (in_slice(row)) touched_.push_back(row - first);
    }
  }
  std::sort(touched_.begin(), touched_.end());
  touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());

  const auto count = static_cast<std::int64_t>(touched_.size());
  const Tensor sum = Scratch(count, parts.front().gradient->weights.cols);
  device_.Fill(sum, 0);
  for (const Contribution& part : parts) {
    const std::int32_t* named = part.gradient->touched.host();
    auto place = touched_.begin();
    for (std::int64_t i = 0; i < part.gradient->touched.size; ++i) {
      if (!in_slice(named[i])) continue;
      place = std::lower_bound(place, touched_.end(), named[i] - first);
      device_.AddScaled(part.gradient->weights.Slice(i, 1), part.share, 1,
                        sum.Slice(place - touched_.begin(), 1));
    }
  }
  return {.weights = sum,
          .bias = {},
          .touched = HostSpan<const std::int32_t>(touched_.data(), count),
          .touched_on_host = touched_,
          .is_sparse = true};
}

Tensor CommonStep::Scratch(std::int64_t rows, std::int64_t cols) {
  const auto bytes = static_cast<std::size_t>(rows * cols) * sizeof(float);
  if (scratch_.bytes() < bytes) scratch_ = Buffer(device_, bytes);
  return Tensor::Matrix(scratch_.span<float>(), rows, cols);
}

}  // namespace hogbatch
