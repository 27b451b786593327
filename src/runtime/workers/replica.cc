#include "runtime/workers/replica.h"

#include "core/error.h"

namespace hogbatch {

Replica::Replica(JobMemory& memory, Device& device)
    : memory_(memory),
      device_(device),
      batch_(device),
      weights_(memory.model, device),
      delta_(memory.model, device),
      places_on_device_(device),
      marks_(memory.store.layout().layers.size()) {
  if (memory.model.sparse_input) compactor_.emplace(memory.model.inputs);
}

std::span<const std::int32_t> Replica::touched() const {
  return compactor_ ? std::span(compactor_->touched()) : std::span<const std::int32_t>();
}

void Replica::LoadRows(RowRange rows) {
  for (std::size_t i = 0; i < marks_.size(); ++i)
    Check(!is_pending(i), "a Δ must be merged before the next is made");
  input_ = batch_.Upload(compactor_ ? compactor_->Compact(memory_.data, rows)
                                    : ViewInput(memory_.data, rows));
  targets_ = batch_.Upload(ViewTargets(memory_.data, rows));
  weights_.SetTouched(touched());
  delta_.SetTouched(touched());
  const std::size_t bytes = rows.size() * sizeof(float);
  if (losses_on_device_.bytes() < bytes) {
    if (losses_on_device_.bytes() > 0) device_.Wait();
    losses_on_device_ = Buffer();
    losses_on_device_ = Buffer(device_, bytes);
  }
  losses_.resize(rows.size());
}

void Replica::LoadWeights(const Replica* earlier) {
  weights_.Upload(memory_.store);
  if (earlier) AddPending(*earlier);
}

void Replica::AddPending(const Replica& earlier) {
  for (std::size_t i = 0; i < marks_.size(); ++i) {
    if (!earlier.is_pending(i)) continue;
    const LayerView& from = earlier.delta()[i];
    const LayerView& to = weights()[i];
    device_.AddScaled(from.bias, 1, 1, to.bias);
    if (i == 0 && compactor_) {
      AddPendingRows(earlier);
    } else {
      device_.AddScaled(from.weights, 1, 1, to.weights);
    }
  }
}

void Replica::AddPendingRows(const Replica& earlier) {
  const std::span<const std::int32_t> mine = touched();
  const Tensor& from = earlier.delta().front().weights;
  places_.assign(from.rows, -1);
  bool overlaps = false;
  auto at = mine.begin();
  for (std::size_t i = 0; i < earlier.touched().size(); ++i) {
    const std::int32_t row = earlier.touched()[i];
    while (at != mine.end() && *at < row) ++at;
    if (at == mine.end() || *at != row) continue;
    places_[i] = static_cast<std::int32_t>(at - mine.begin());
    overlaps = true;
  }
  if (!overlaps) return;
  places_on_device_.Restart();
  device_.AddRows(from, places_on_device_.Upload<std::int32_t>(places_), 1,
                  weights().front().weights);
}

void Replica::KeepLosses(const Tensor& losses, std::int64_t at) {
  device_.AddScaled(losses, 1, 0,
                    Tensor::Vector(losses_on_device_.span<float>().Sub(at, losses.cols)));
}

void Replica::DownloadLosses() {
  device_.Download(losses_on_device_.span<float>().base, 0,
                   std::as_writable_bytes(std::span(losses_)));
  losses_mark_ = device_.SetMark();
}

void Replica::DownloadLayer(std::size_t layer) {
  const bool is_last = layer + 1 == marks_.size();
  if (memory_.merge == Merge::kDelta || is_last) delta_.Download(layer);
  if (memory_.merge != Merge::kDelta) weights_.Download(layer);
  marks_[layer] = device_.SetMark();
}

void Replica::DownloadGradient(std::size_t layer) { delta_.Download(layer); }

void Replica::WaitForLosses() { device_.WaitFor(losses_mark_); }

void Replica::MergeLayer(std::size_t layer) {
  Check(is_pending(layer), "a layer's Δ is merged once");
  device_.WaitFor(*marks_[layer]);
  switch (memory_.merge) {
    case Merge::kDelta:
      delta_.AddTo(memory_.store, layer);
      break;
    case Merge::kAverage:
      weights_.BlendInto(memory_.store, layer, 1.0f / static_cast<float>(memory_.teams));
      break;
    case Merge::kOverwrite:
      weights_.WriteTo(memory_.store, layer);
      break;
  }
  marks_[layer].reset();
}

void Replica::WaitForGradient() { device_.Wait(); }

void Replica::ReadProbes(std::span<float> to) const {
  const std::size_t last = marks_.size() - 1;
  for (std::size_t i = 0; i < to.size(); ++i) {
    const std::int64_t at = memory_.probes.InLayer(i, delta_.bias_at(last));
    to[i] = delta_.inbound(last)[at];
  }
}

void Replica::ReleaseRows() {
  for (std::optional<std::int64_t>& mark : marks_) mark.reset();
  batch_.Release();
  losses_on_device_ = Buffer();
}

}  // namespace hogbatch
