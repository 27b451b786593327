// The layers of a model on a device that does not share host memory, with host memory for their
// transfers in both directions. Used for the replica and for Δ.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device/buffer.h"
#include "nn/layer_blocks.h"
#include "nn/optimizer.h"
#include "runtime/store/parameter_store.h"

namespace hogbatch {

// The device must be waited for between an Upload or Download and the next use of what it copies.
class MirroredLayers {
 public:
  MirroredLayers(const ModelSpec& spec, Device& device);

  // The first layer of a sparse model holds one row for each of `touched`, and at least one, so
  // that no call of a device gets an empty tensor. `touched` must not change until the next call.
  void SetTouched(std::span<const std::int32_t> touched);

  std::span<const LayerView> on_device() const { return blocks_.views(); }

  // Copies the model, to which others may write, and queues the upload of the copy.
  void Upload(const ParameterStore& store);
  // Queues the download of a layer.
  void Download(std::size_t layer);
  // Merge a downloaded layer into the model: add it, move the model towards it by `share` of the
  // distance, or replace the model by it.
  void AddTo(ParameterStore& store, std::size_t layer) const;
  void BlendInto(ParameterStore& store, std::size_t layer, float share) const;
  void WriteTo(ParameterStore& store, std::size_t layer) const;
  // A downloaded layer: its weights, a gap and, at bias_at, its biases.
  std::span<const float> inbound(std::size_t layer) const { return Floats(inbound_[layer], layer); }
  std::int64_t bias_at(std::size_t layer) const { return blocks_.bias_at(layer); }
  // All downloaded layers as a gradient that every worker can read, valid until the next
  // SetTouched.
  std::vector<LayerGradient> InboundGradient();

 private:
  // Calls part(its index in the store, its floats in `host`) for each part of a layer that is
  // contiguous in both.
  template <typename Float, typename F>
  void ForEachContiguousPart(std::size_t layer, std::span<Float> host, F part) const;
  std::span<float> Floats(const HostBuffer& host, std::size_t layer) const {
    return host.span<float>().first(blocks_.floats(layer));
  }
  // The same, after making room for the layer.
  std::span<float> WithRoom(HostBuffer& host, std::size_t layer);

  Device& device_;
  ParameterLayout layout_;  // of the whole model
  bool sparse_input_;
  LayerBlocks blocks_;
  // Host memory of transfers to and from the device: one per layer, laid out like its block.
  std::vector<HostBuffer> outbound_;
  std::vector<HostBuffer> inbound_;
  std::span<const std::int32_t> touched_;
};

}  // namespace hogbatch
