#include "runtime/workers/mirrored_layers.h"

#include <algorithm>

#include "core/error.h"

namespace hogbatch {

MirroredLayers::MirroredLayers(const ModelSpec& spec, Device& device)
    : device_(device),
      layout_(Layout(spec)),
      sparse_input_(spec.sparse_input),
      blocks_(device, sparse_input_ ? WithFirstHeight(layout_, 1) : layout_),
      outbound_(layout_.layers.size()),
      inbound_(layout_.layers.size()) {}

void MirroredLayers::SetTouched(std::span<const std::int32_t> touched) {
  if (!sparse_input_) return;
  touched_ = touched;
  blocks_.SetFirstHeight(std::max<std::int64_t>(1, static_cast<std::int64_t>(touched.size())));
}

std::span<float> MirroredLayers::WithRoom(HostBuffer& host, std::size_t layer) {
  const std::size_t bytes = blocks_.floats(layer) * sizeof(float);
  // A sparse first layer often grows a little, and this memory is slow to allocate: grow by half.
  const std::size_t grown = host.bytes() + host.bytes() / 2;
  if (host.bytes() < bytes) host = HostBuffer(device_, std::max(bytes, grown));
  return Floats(host, layer);
}

template <typename Float, typename F>
void MirroredLayers::ForEachContiguousPart(std::size_t layer, std::span<Float> host, F part) const {
  const LayerShape& shape = layout_.layers[layer];
  const auto on_host = [&](std::int64_t at, std::int64_t floats) {
    return host.subspan(at, floats);
  };
  if (layer == 0 && sparse_input_) {
    for (std::size_t i = 0; i < touched_.size(); ++i) {
      part(shape.weights_at + touched_[i] * shape.out,
           on_host(static_cast<std::int64_t>(i) * shape.out, shape.out));
    }
  } else {
    part(shape.weights_at, on_host(0, shape.in * shape.out));
  }
  // Without the gap before the biases: its contents on the device are undefined.
  part(shape.bias_at, on_host(blocks_.bias_at(layer), shape.width));
}

void MirroredLayers::Upload(const ParameterStore& store) {
  for (std::size_t i = 0; i < outbound_.size(); ++i) {
    const std::span<float> outbound = WithRoom(outbound_[i], i);
    ForEachContiguousPart(i, outbound,
                          [&](std::int64_t at, std::span<float> here) { store.Read(at, here); });
    blocks_.Upload(i, outbound);
  }
}

void MirroredLayers::Download(std::size_t layer) {
  blocks_.Download(layer, WithRoom(inbound_[layer], layer));
}

void MirroredLayers::AddTo(ParameterStore& store, std::size_t layer) const {
  ForEachContiguousPart(layer, inbound(layer),
                        [&](std::int64_t at, std::span<const float> here) { store.Add(at, here); });
}

void MirroredLayers::BlendInto(ParameterStore& store, std::size_t layer, float share) const {
  ForEachContiguousPart(layer, inbound(layer), [&](std::int64_t at, std::span<const float> here) {
    store.Blend(at, here, share);
  });
}

void MirroredLayers::WriteTo(ParameterStore& store, std::size_t layer) const {
  ForEachContiguousPart(layer, inbound(layer), [&](std::int64_t at, std::span<const float> here) {
    store.Write(at, here);
  });
}

std::vector<LayerGradient> MirroredLayers::InboundGradient() {
  std::vector<LayerGradient> layers;
  for (std::size_t i = 0; i < inbound_.size(); ++i) {
    const LayerView& there = blocks_.views()[i];
    const DeviceSpan<float> here = HostSpan(Floats(inbound_[i], i).data(), blocks_.floats(i));
    layers.push_back({.weights = Tensor::Matrix(here, there.weights.rows, there.weights.cols),
                      .bias = Tensor::Vector(here.Sub(blocks_.bias_at(i), there.bias.cols)),
                      .touched = {},
                      .touched_on_host = {}});
  }
  if (sparse_input_) {
    LayerGradient& first = layers.front();
    first.touched = HostSpan(touched_);
    first.touched_on_host = touched_;
    first.is_sparse = true;
  }
  return layers;
}

}  // namespace hogbatch
