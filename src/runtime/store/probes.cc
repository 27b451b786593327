#include "runtime/store/probes.h"

#include <algorithm>

namespace hogbatch {

Probes::Probes(const ModelSpec& spec, int workers)
    : outputs_(spec.outputs),
      are_biases_(spec.sparse_input && spec.hidden.empty()),
      expected_(workers) {
  const std::int64_t inputs = spec.hidden.empty() ? spec.inputs : spec.hidden.back();
  const std::int64_t all = are_biases_ ? outputs_ : inputs * outputs_;
  const auto count = std::min<std::int64_t>(kMax, all);
  for (std::int64_t i = 0; i < count; ++i) {
    // Shifted by i: otherwise all probes could lie in one column.
    const std::int64_t at = count < all ? (all / count * i + i % outputs_) % all : i;
    positions_.push_back({.row = at / outputs_, .col = at % outputs_});
  }
}

void Probes::Begin(const ParameterStore& store) {
  start_.resize(positions_.size());
  Read(store, start_);
  for (Sums& sums : expected_) {
    for (std::atomic<double>& sum : sums.added) sum.store(0, std::memory_order_relaxed);
  }
}

void Probes::Expect(WorkerId worker, std::span<const float> added) {
  Sums& sums = expected_[worker];
  for (std::size_t i = 0; i < added.size(); ++i) {
    const double before = sums.added[i].load(std::memory_order_relaxed);
    sums.added[i].store(before + static_cast<double>(added[i]), std::memory_order_relaxed);
  }
}

std::optional<double> Probes::Beta(const ParameterStore& store) const {
  if (start_.empty()) return std::nullopt;
  std::vector<float> now(positions_.size());
  Read(store, now);
  double seen_expected = 0;
  double expected_squared = 0;
  for (std::size_t i = 0; i < positions_.size(); ++i) {
    double expected = 0;
    for (const Sums& sums : expected_) expected += sums.added[i].load(std::memory_order_relaxed);
    seen_expected += (static_cast<double>(now[i]) - static_cast<double>(start_[i])) * expected;
    expected_squared += expected * expected;
  }
  if (expected_squared == 0) return std::nullopt;
  return seen_expected / expected_squared;
}

void Probes::Read(const ParameterStore& store, std::span<float> to) const {
  const LayerShape& layer = store.layout().layers.back();
  for (std::size_t i = 0; i < positions_.size(); ++i) {
    const std::int64_t in_layer = InLayer(i, layer.bias_at - layer.weights_at);
    store.Read(layer.weights_at + in_layer, to.subspan(i, 1));
  }
}

}  // namespace hogbatch
