// Turns gradients of lanes into steps: each lane has its own options and learning rate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "device/device.h"
#include "nn/optimizer.h"

namespace hogbatch {

class LaneOptimizer {
 public:
  virtual ~LaneOptimizer() = default;

  // Gradients may be added to the weights as they are made, with scale -1 and keep 1, if they were
  // multiplied by lane_factors() where they start: plain SGD without decay in any lane.
  virtual bool direct() const = 0;

  // Begins an update, counted from 1. With learning rate 0 a lane whose numbers are finite stays as
  // it is. An update is complete before the next but one begins.
  virtual void Begin(std::span<const float> learning_rates, std::int64_t update) = 0;
  // The learning rates of the update, on the device.
  virtual DeviceSpan<const float> lane_factors() const = 0;
  // One step of `layer` with a private gradient, as Optimizer::Step makes it. Its gradient was not
  // multiplied by lane_factors().
  virtual void StepLayer(int layer, const LayerGradient& gradient, const LayerView& weights) = 0;

  // As those of Optimizer.
  virtual OptimizerState Save() = 0;
  virtual void Load(const OptimizerState& state) = 0;
};

// Arrays in the shape of the parameters that such an optimiser keeps: as many as any lane needs.
std::size_t StateArrays(std::span<const OptimizerOptions> lanes);

// One entry of `lanes` for each lane of the network. All have the same kind of optimiser. Momentum
// is explicit: a lane belongs to one worker at a time.
std::unique_ptr<LaneOptimizer> MakeLaneOptimizer(std::span<const OptimizerOptions> lanes,
                                                 const ModelSpec& spec, Device& device);

}  // namespace hogbatch
