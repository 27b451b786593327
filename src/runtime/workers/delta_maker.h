// Makes Δ: what the updates of one merge add to the model, on the device that trains a replica of
// it. Δ, not the new weights, goes back to the store. What others wrote there meanwhile survives,
// and no difference of nearly equal numbers is taken.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "device/buffer.h"
#include "nn/optimizer.h"
#include "runtime/batches/reused_memory.h"
#include "runtime/workers/private_gradient.h"

namespace hogbatch {

class DeltaMaker {
 public:
  // Optimiser state, if there is any, lies on `device`.
  DeltaMaker(const ModelSpec& spec, const OptimizerOptions& options, double momentum,
             Device& device);

  // The optimiser has no state: an update adds the gradient times -learning_rate, and decay.
  bool direct() const { return !gradient_; }
  Optimizer& optimizer() { return *optimizer_; }

  // Where an update is made. An optimiser with state knows kDelta only.
  enum class Destination : std::uint8_t {
    kDelta,    // Δ becomes this update: the first of its merge
    kOnDelta,  // it is added to Δ as it is made: the last, if the replica need not have it
    kAside,    // it is made in memory of its own and then added to Δ and to the replica
  };

  // Where Model::Backward is to write one update; then Make and, if the replica is to have the
  // update, AddToReplica are called for each layer. `touched` as in PrivateGradient.
  std::span<const GradientTarget> Targets(float learning_rate,
                                          std::span<const std::int32_t> touched,
                                          std::span<const LayerView> delta,
                                          Destination destination);

  // After Backward wrote the layer's target: completes the layer's Δ. `update` counts this worker's
  // updates from 1.
  void Make(std::size_t layer, float learning_rate, std::int64_t update, const LayerView& replica,
            const LayerView& delta);

  // After Make, unless the destination is kOnDelta. False: a sparse first layer's update is not
  // kept aside; its gradient has to be added to the replica once more.
  bool AddToReplica(std::size_t layer, const LayerView& replica, const LayerView& delta);

  // What it takes of a device if updates touch at most `touched` rows of a sparse first layer.
  static std::int64_t Bytes(const ModelSpec& spec, const OptimizerOptions& options, double momentum,
                            std::int64_t touched);

 private:
  // A sparse first layer is never made aside: to add the few rows of one update twice costs less
  // than to clear and add all rows that the merge touches.
  bool IsAside(std::size_t layer) const {
    return destination_ == Destination::kAside && !(sparse_input_ && layer == 0);
  }
  LayerView Aside(std::size_t layer) const;
  void StepLayer(std::size_t layer, float learning_rate, std::int64_t update,
                 const LayerView& replica, const LayerView& delta);

  Device& device_;
  ParameterLayout layout_;
  bool sparse_input_;
  double decay_;
  std::unique_ptr<Optimizer> optimizer_;
  std::optional<PrivateGradient> gradient_;  // none: the optimiser is direct
  ReusedMemory touched_;
  std::vector<GradientTarget> targets_;
  Destination destination_ = Destination::kDelta;
  Buffer aside_;  // one layer after the other: the device computes in order
};

}  // namespace hogbatch
