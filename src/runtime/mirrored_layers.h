// The layers of a model twice: on a device that does not share host memory, and in host memory for
// the way there and back. One is the replica that a device trains on, another what it adds to the
// model.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nn/layer_blocks.h"
#include "nn/optimizer.h"
#include "runtime/parameter_store.h"

namespace hogbatch {

// Every call but the constructor may use what earlier ones left with the device, so it must have
// been waited for between an Upload or Download and the next use of what it copies.
class MirroredLayers {
 public:
  MirroredLayers(const ModelSpec& spec, Device& device);

  // Of a sparse model the first layer holds just a row for each of `touched` (one at least, so that
  // no call of a device is about nothing). They must stay as they are until the next Fit.
  void Fit(std::span<const std::int32_t> touched);

  std::span<const LayerView> on_device() const { return blocks_.views(); }

  // Copies the model, to which others may write, and queues the copy's way to the device.
  void Upload(const ParameterStore& store);
  // Queues the way of what the device has made to the host.
  void Download();
  // Adds what came to the model.
  void AddTo(ParameterStore& store) const;
  // What came, as a gradient that every worker can read. Good until the next Fit.
  std::vector<LayerGradient> OnHost();

 private:
  // Calls part(where it lies in the store, where in this layer's host memory) for each stretch of a
  // layer that is contiguous in both.
  template <typename F>
  void ForEachStretch(std::size_t layer, F part) const;

  ParameterLayout layout_;  // of the whole model
  bool sparse_input_;
  LayerBlocks blocks_;
  std::vector<std::vector<float>> host_;  // one a layer, laid out like its block
  std::span<const std::int32_t> touched_;
};

}  // namespace hogbatch
