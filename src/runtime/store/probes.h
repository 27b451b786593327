// Measures the share β of concurrent updates that survives in the model, by conservation: on a few
// probe weights every worker sums what its updates meant to add; what is there now, less what was
// there at the start, is what they did add.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "nn/model_spec.h"
#include "runtime/store/parameter_store.h"

namespace hogbatch {

// Up to 64 weights spread over the last layer: all updates change them, and every worker has what
// makes their gradients. Where that layer reads sparse rows, its biases.
class Probes {
 public:
  static constexpr std::size_t kMost = 64;

  Probes(const ModelSpec& spec, int workers);

  struct Place {
    std::int64_t row = 0;
    std::int64_t col = 0;
  };
  std::span<const Place> places() const { return places_; }
  bool are_biases() const { return are_biases_; }
  // Where place `i` lies among the floats of a last layer whose biases begin at `bias_at`.
  std::int64_t InLayer(std::size_t i, std::int64_t bias_at) const {
    return are_biases_ ? bias_at + places_[i].col : places_[i].row * outputs_ + places_[i].col;
  }

  // Before the first update: the model as it is now is the start.
  void Begin(const ParameterStore& store);
  // By worker `worker`'s own thread: one of its updates meant to add this to each place.
  void Meant(int worker, std::span<const float> added);

  // ⟨seen, meant⟩ / ⟨meant, meant⟩; none without a Begin and an update. Exact when nobody updates.
  std::optional<double> Beta(const ParameterStore& store) const;

  // The probes' present weights.
  void Read(const ParameterStore& store, std::span<float> to) const;

 private:
  // Written by one thread, read by any.
  struct alignas(64) Sums {
    std::array<std::atomic<double>, kMost> added = {};
  };

  std::int64_t outputs_;
  bool are_biases_;
  std::vector<Place> places_;
  std::vector<float> start_;
  std::vector<Sums> meant_;  // by each worker
};

}  // namespace hogbatch
