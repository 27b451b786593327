// Measures β, the share of concurrent updates that survives in the model. For a few weights, the
// probes, every worker sums what its updates were expected to add. What they really added is the
// present weight less the initial one.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/ids.h"
#include "core/indexed_vector.h"
#include "nn/model_spec.h"
#include "runtime/store/parameter_store.h"

namespace hogbatch {

// Up to 64 weights spread over the last layer: all updates change them, and every worker can
// compute their gradients. If that layer reads sparse rows, its biases are used instead.
class Probes {
 public:
  static constexpr std::size_t kMax = 64;

  Probes(const ModelSpec& spec, int workers);

  struct Position {
    std::int64_t row = 0;
    std::int64_t col = 0;
  };
  std::span<const Position> positions() const { return positions_; }
  bool are_biases() const { return are_biases_; }
  // The index of probe `i` among the floats of a last layer whose biases begin at `bias_at`.
  std::int64_t InLayer(std::size_t i, std::int64_t bias_at) const {
    return are_biases_ ? bias_at + positions_[i].col
                       : positions_[i].row * outputs_ + positions_[i].col;
  }

  // Before the first update: the present model is the initial one.
  void Begin(const ParameterStore& store);
  // Called on the worker's own thread: one of its updates should add this to each probe.
  void Expect(WorkerId worker, std::span<const float> added);

  // ⟨seen, expected⟩ / ⟨expected, expected⟩; none before Begin and an update. Exact while no worker
  // trains.
  std::optional<double> Beta(const ParameterStore& store) const;

  // The probes' present weights.
  void Read(const ParameterStore& store, std::span<float> to) const;

 private:
  // Written by one thread, read by any.
  struct alignas(64) Sums {
    std::array<std::atomic<double>, kMax> added = {};
  };

  std::int64_t outputs_;
  bool are_biases_;
  std::vector<Position> positions_;
  std::vector<float> start_;
  IndexedVector<WorkerId, Sums> expected_;
};

}  // namespace hogbatch
