// What updates add to the model, made on the device that trains a replica of it. Δ, not new
// weights, is what goes back to the store: what others wrote there meanwhile survives, and no
// difference of nearly equal numbers is taken.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "nn/optimizer.h"
#include "runtime/batches/reused_memory.h"
#include "runtime/workers/private_gradient.h"

namespace hogbatch {

class DeltaMaker {
 public:
  // Optimiser state, if there is any, lies on `device`.
  DeltaMaker(const ModelSpec& spec, const OptimizerOptions& options, double momentum,
             Device& device);

  // There is no state between a gradient and its step.
  bool direct() const { return !gradient_; }

  // Where Model::Backward is to write so that Make can turn it into `delta`, or, if an update came
  // before this one and the optimiser is direct, add it there. `touched` as in PrivateGradient.
  enum class Order : std::uint8_t { kFirst, kFurther };
  std::span<const GradientTarget> Targets(float rate, std::span<const std::int32_t> touched,
                                          std::span<const LayerView> delta, Order order);

  // After Backward wrote the layer's target: completes its Δ. `update` counts this worker's updates
  // from 1.
  void Make(std::size_t layer, float rate, std::int64_t update, const LayerView& replica,
            const LayerView& delta);

  // Of a direct optimiser: where the same gradient goes so that the replica has made the update,
  // too.
  GradientTarget OnReplica(float rate, const LayerView& replica) const;

  // What it takes of a device if updates touch at most `touched` rows of a sparse first layer.
  static std::int64_t Bytes(const ModelSpec& spec, const OptimizerOptions& options, double momentum,
                            std::int64_t touched);

 private:
  void StepLayer(std::size_t layer, float rate, std::int64_t update, const LayerView& replica,
                 const LayerView& delta);

  Device& device_;
  double decay_;
  std::unique_ptr<Optimizer> optimizer_;
  std::optional<PrivateGradient> gradient_;  // none: gradients are Δ but for their scale
  ReusedMemory touched_;
  std::vector<GradientTarget> targets_;
};

}  // namespace hogbatch
