// The layers of a model twice: on a device that does not share host memory, and in host memory for
// the way there and back. One is the replica that a device trains on, another what it adds to the
// model.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device/buffer.h"
#include "nn/layer_blocks.h"
#include "nn/optimizer.h"
#include "runtime/store/parameter_store.h"

namespace hogbatch {

// An Upload or Download must have been waited for before the next use of what it copies.
class MirroredLayers {
 public:
  MirroredLayers(const ModelSpec& spec, Device& device);

  // Of a sparse model the first layer holds just a row for each of `touched` (one at least, so that
  // no call of a device is about nothing). They must stay as they are until the next Fit.
  void Fit(std::span<const std::int32_t> touched);

  std::span<const LayerView> on_device() const { return blocks_.views(); }

  // Copies the model, to which others may write, and queues the copy's way to the device.
  void Upload(const ParameterStore& store);
  // Queues the way of what the device has made of a layer to the host.
  void Download(std::size_t layer);
  // Brings what came of a layer into the model: adds it, draws the model towards it by `share` of
  // the distance, or puts it in the model's place.
  void AddTo(ParameterStore& store, std::size_t layer) const;
  void BlendInto(ParameterStore& store, std::size_t layer, float share) const;
  void WriteTo(ParameterStore& store, std::size_t layer) const;
  // What came of a layer: its weights, and behind a gap, at bias_at, its biases.
  std::span<const float> on_host(std::size_t layer) const { return Floats(inbound_[layer], layer); }
  std::int64_t bias_at(std::size_t layer) const { return blocks_.bias_at(layer); }
  // What came, as a gradient that every worker can read. Good until the next Fit.
  std::vector<LayerGradient> OnHost();

 private:
  // Calls part(where it lies in the store, the floats in `host`) for each stretch of a layer that
  // is contiguous in both.
  template <typename Float, typename F>
  void ForEachStretch(std::size_t layer, std::span<Float> host, F part) const;
  std::span<float> Floats(const HostBuffer& host, std::size_t layer) const {
    return host.span<float>().first(static_cast<std::size_t>(blocks_.floats(layer)));
  }
  // The same, with room for it.
  std::span<float> Fitted(HostBuffer& host, std::size_t layer);

  Device& device_;
  ParameterLayout layout_;  // of the whole model
  bool sparse_input_;
  LayerBlocks blocks_;
  // On the way there and back: one a layer, laid out like its block.
  std::vector<HostBuffer> outbound_;
  std::vector<HostBuffer> inbound_;
  std::span<const std::int32_t> touched_;
};

}  // namespace hogbatch
