// Trains in weights that other cores change, too, so that an update touches each cache line of them
// once: the update of a batch is made during the forward pass of the next one, and the backward
// pass reads a copy. Moving lines between far cores is the largest cost of updates of few rows.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "core/aligned.h"
#include "device/device.h"
#include "nn/model.h"

namespace hogbatch {

class DeferredUpdates {
 public:
  // `weights`, which it changes, and the device outlive it.
  DeferredUpdates(const ModelSpec& spec, Device& device, std::span<const LayerView> weights);

  // With larger batches the products take longer than the lines.
  static constexpr std::int64_t kMostRows = 64;
  // Whether the copies of a network's weights stay in caches.
  static bool Suits(const ModelSpec& spec);

  // Makes the pending update, if there is one, and runs the batch forward. Its rows and `targets`,
  // which are the weights, are used until its own update is made.
  void Forward(const BatchInput& input, std::span<const GradientTarget> targets);
  Tensor ComputeLoss(const Targets& wanted, const Tensor& class_weights) {
    return now().ComputeLoss(wanted, class_weights);
  }
  Model::LastLayer last_layer() const { return models_[turn_]->last_layer(input_); }
  // The update of the batch is pending afterwards.
  void Backward();

  // Makes the update that is pending, if there is one.
  void Flush();

 private:
  Model& now() { return *models_[turn_]; }

  Device& device_;
  std::span<const LayerView> weights_;
  std::array<std::optional<Model>, 2> models_;  // the present batch's and the one before
  std::size_t turn_ = 0;
  std::vector<AlignedFloats> memory_;
  std::vector<Tensor> copies_;  // of the weights; empty where no backward pass reads them
  BatchInput input_;            // of the present batch, or of the pending update
  std::vector<GradientTarget> targets_;
  bool is_pending_ = false;
};

}  // namespace hogbatch
