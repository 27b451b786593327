#include "runtime/workers/sync_update.h"

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

void SyncUpdate::Apply(const Task& task) {
  if (task.slice != slice_ || task.slices != slices_) BeginSlice(task);
  ++updates_;
  AppliedSlice& applied = memory_.applied[task.slice];
  if (applied.round != task.round) applied = {.round = task.round};
  while (applied.layers < memory_.store.layout().layers.size()) ApplyLayer(task, applied);
}

void SyncUpdate::BeginSlice(const Task& task) {
  const bool resumes = slices_ == 0;
  slice_ = task.slice;
  slices_ = task.slices;
  updates_ = 0;
  const ParameterLayout layout = SliceLayout(memory_.store.layout(), task);
  const std::int64_t sparse_rows = memory_.model.sparse_input ? layout.layers.front().in : 0;
  optimizer_ =
      MakeOptimizer(memory_.optimizer, memory_.explicit_momentum, layout, sparse_rows, device_);
  const std::optional<SavedWorker>& saved = memory_.saved_workers[worker_];
  if (!resumes || !saved || !saved->slice_optimizer) return;
  if (saved->slice != slice_ || saved->slices != slices_) return;
  updates_ = saved->slice_updates;
  optimizer_->Load(*saved->slice_optimizer);
}

void SyncUpdate::SaveTo(SavedWorker& saved) {
  if (!optimizer_) return;
  saved.slice = slice_;
  saved.slices = slices_;
  saved.slice_updates = updates_;
  saved.slice_optimizer = optimizer_->Save();
}

void SyncUpdate::Forget() {
  optimizer_.reset();
  slice_ = slices_ = -1;
}

void SyncUpdate::ApplyLayer(const Task& task, AppliedSlice& applied) {
  const std::size_t layer = applied.layers;
  scratch_.Restart();
  const std::vector<Contribution> parts = Gather(task.round, layer);
  const RowRange rows = SliceOf(task, memory_.store.layout().layers[layer].in);
  LayerGradient gradient =
      parts.front().gradient->is_sparse ? SumSparse(parts, rows) : SumDense(parts, rows);
  if (task.slice == 0) gradient.bias = SumBiases(parts);
  const bool shares = device_.info().shares_host_memory;
  if (shares) {
    StepStore(task, rows, gradient, applied);
  } else {
    StepCopy(task, layer, rows, gradient);
  }
  applied = {.round = task.round, .layers = layer + 1};
  if (shares) device_.Wait();
}

// Notes biases and weights separately: if the device fails in between, the biases must not be
// stepped again.
void SyncUpdate::StepStore(const Task& task, RowRange rows, LayerGradient gradient,
                           AppliedSlice& applied) {
  const LayerView& whole = memory_.store.views()[applied.layers];
  const LayerView view{.weights = whole.weights.Slice(rows.begin, rows.size()), .bias = whole.bias};
  const auto layer = static_cast<int>(applied.layers);
  if (!gradient.bias.empty() && !applied.has_biases) {
    optimizer_->Step(layer, {.bias = gradient.bias}, task.learning_rate, updates_, view);
    applied.has_biases = true;
  }
  gradient.bias = {};
  optimizer_->Step(layer, gradient, task.learning_rate, updates_, view);
}

// A device that does not share host memory steps a copy of the rows that the gradient has. No other
// worker changes them in this round.
void SyncUpdate::StepCopy(const Task& task, std::size_t layer, RowRange rows,
                          const LayerGradient& gradient) {
  const LayerShape& shape = memory_.store.layout().layers[layer];
  const std::int64_t width = shape.out;
  std::vector<std::int64_t> at;  // of each row in the store
  const std::int64_t first = shape.weights_at + rows.begin * shape.out;
  if (gradient.is_sparse) {
    for (const std::int32_t row : touched_) at.push_back(first + row * shape.out);
  } else {
    for (std::int64_t row = 0; row < rows.size(); ++row) at.push_back(first + row * shape.out);
  }
  const auto weight_rows = static_cast<std::int64_t>(at.size());
  if (!gradient.bias.empty()) at.push_back(shape.bias_at);

  std::vector<float> before(at.size() * width), after(before.size());
  for (std::size_t i = 0; i < at.size(); ++i) {
    memory_.store.Read(at[i], std::span(before).subspan(i * width, width));
  }
  const Tensor copy =
      OnDevice(Tensor::Matrix(HostSpan(before.data(), static_cast<std::int64_t>(before.size())),
                              static_cast<std::int64_t>(at.size()), shape.out));
  LayerView view{.weights = copy.Rows(weight_rows), .bias = {}};
  if (!gradient.bias.empty()) view.bias = copy.Slice(weight_rows, 1);
  optimizer_->Step(static_cast<int>(layer), gradient, task.learning_rate, updates_, view);
  if (!after.empty()) {
    device_.Download(copy.data.base, 0, std::as_writable_bytes(std::span(after)));
  }
  device_.Wait();
  for (std::size_t i = 0; i < at.size(); ++i) {
    memory_.store.Write(at[i], std::span(after).subspan(i * width, width));
  }
}

std::vector<SyncUpdate::Contribution> SyncUpdate::Gather(std::int64_t round,
                                                         std::size_t layer) const {
  std::int64_t rows = 0;
  for (const HeldGradient& held : memory_.held) rows += held.round == round ? held.rows : 0;
  std::vector<Contribution> parts;
  for (const HeldGradient& held : memory_.held) {
    if (held.round != round) continue;
    const auto share = static_cast<double>(held.rows) / static_cast<double>(rows);
    parts.push_back({&held.layers[layer], static_cast<float>(share)});
  }
  Check(!parts.empty(), "a round without gradients");
  return parts;
}

LayerGradient SyncUpdate::SumDense(std::span<const Contribution> parts, RowRange rows) {
  LayerGradient gradient;
  if (rows.size() == 0) return gradient;  // more workers than rows
  const std::int64_t cols = parts.front().gradient->weights.cols;
  gradient.weights = Tensor::Matrix(scratch_.Take<float>(rows.size() * cols), rows.size(), cols);
  for (const Contribution& part : parts) {
    device_.AddScaled(OnDevice(part.gradient->weights.Slice(rows.begin, rows.size())), part.share,
                      &part == parts.data() ? 0.0f : 1.0f, gradient.weights);
  }
  return gradient;
}

Tensor SyncUpdate::SumBiases(std::span<const Contribution> parts) {
  const Tensor sum = Tensor::Vector(scratch_.Take<float>(parts.front().gradient->bias.cols));
  for (const Contribution& part : parts) {
    device_.AddScaled(OnDevice(part.gradient->bias), part.share,
                      &part == parts.data() ? 0.0f : 1.0f, sum);
  }
  return sum;
}

LayerGradient SyncUpdate::SumSparse(std::span<const Contribution> parts, RowRange rows) {
  // The rows of a gradient that belong to the slice: they are contiguous.
  const auto in_slice = [&](const Contribution& part) {
    const std::span<const std::int32_t> all = part.gradient->touched_on_host;
    const auto begin = std::lower_bound(all.begin(), all.end(), rows.begin);
    return RowRange{begin - all.begin(),
                    std::lower_bound(begin, all.end(), rows.end) - all.begin()};
  };
  const auto row_of = [&](const Contribution& part, std::int64_t place) {
    const std::int32_t row = part.gradient->touched_on_host[place];
    return row - static_cast<std::int32_t>(rows.begin);
  };
  touched_.clear();
  for (const Contribution& part : parts) {
    const RowRange mine = in_slice(part);
    for (std::int64_t i = mine.begin; i < mine.end; ++i) touched_.push_back(row_of(part, i));
  }
  std::sort(touched_.begin(), touched_.end());
  touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());

  LayerGradient gradient{.weights = {},
                         .bias = {},
                         .touched = OnDevice(touched_),
                         .touched_on_host = touched_,
                         .is_sparse = true};
  if (touched_.empty()) return gradient;
  const auto count = static_cast<std::int64_t>(touched_.size());
  const std::int64_t cols = parts.front().gradient->weights.cols;
  gradient.weights = Tensor::Matrix(scratch_.Take<float>(count * cols), count, cols);
  device_.Fill(gradient.weights, 0);
  places_.clear();
  for (const Contribution& part : parts) {
    const RowRange mine = in_slice(part);
    if (mine.size() == 0) continue;
    std::vector<std::int32_t>& places = places_.emplace_back();
    auto place = touched_.begin();
    for (std::int64_t i = mine.begin; i < mine.end; ++i) {
      place = std::lower_bound(place, touched_.end(), row_of(part, i));
      places.push_back(static_cast<std::int32_t>(place - touched_.begin()));
    }
    device_.AddRows(OnDevice(part.gradient->weights.Slice(mine.begin, mine.size())),
                    OnDevice(places), part.share, gradient.weights);
  }
  return gradient;
}

Tensor SyncUpdate::OnDevice(const Tensor& host) {
  if (device_.info().shares_host_memory) return host;
  Check(host.stride == host.cols, "rows to upload are contiguous");
  const std::span<const float> floats(host.host(), host.rows * host.cols);
  return Tensor::Matrix(scratch_.Upload(floats), host.rows, host.cols);
}

DeviceSpan<const std::int32_t> SyncUpdate::OnDevice(std::span<const std::int32_t> host) {
  if (device_.info().shares_host_memory) {
    return HostSpan(host);
  }
  return scratch_.Upload(host);
}

}  // namespace hogbatch
