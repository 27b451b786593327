#include "runtime/mirrored_layers.h"

#include <algorithm>

#include "core/error.h"

namespace hogbatch {
namespace {

struct Stretch {
  std::int64_t in_store;
  std::int64_t in_copy;
  std::int64_t floats;
};

}  // namespace

MirroredLayers::MirroredLayers(const ModelSpec& spec, Device& device)
    : layout_(Layout(spec)),
      sparse_input_(spec.sparse_input),
      blocks_(device, sparse_input_ ? WithFirstHeight(layout_, 1) : layout_) {
  for (std::size_t i = 0; i < layout_.layers.size(); ++i) {
    host_.emplace_back(static_cast<std::size_t>(blocks_.floats(i)));
  }
}

void MirroredLayers::Fit(std::span<const std::int32_t> touched) {
  if (!sparse_input_) return;
  touched_ = touched;
  blocks_.SetFirstHeight(std::max<std::int64_t>(1, static_cast<std::int64_t>(touched.size())));
  host_.front().resize(static_cast<std::size_t>(blocks_.floats(0)));
}

template <typename F>
void MirroredLayers::ForEachStretch(std::size_t layer, F part) const {
  const LayerShape& shape = layout_.layers[layer];
  if (layer == 0 && sparse_input_) {
    for (std::size_t i = 0; i < touched_.size(); ++i) {
      part(Stretch{shape.weights_at + touched_[i] * shape.out,
                   static_cast<std::int64_t>(i) * shape.out, shape.out});
    }
  } else {
    part(Stretch{shape.weights_at, 0, shape.in * shape.out});
  }
  // The gap before the biases is left out: on a device it holds anything.
  part(Stretch{shape.bias_at, blocks_.bias_at(layer), shape.out});
}

void MirroredLayers::Upload(const ParameterStore& store) {
  for (std::size_t i = 0; i < host_.size(); ++i) {
    ForEachStretch(i, [&](const Stretch& s) {
      store.Read(s.in_store, std::span(host_[i]).subspan(static_cast<std::size_t>(s.in_copy),
                                                         static_cast<std::size_t>(s.floats)));
    });
    blocks_.Upload(i, host_[i]);
  }
}

void MirroredLayers::Download() {
  for (std::size_t i = 0; i < host_.size(); ++i) blocks_.Download(i, host_[i]);
}

void MirroredLayers::AddTo(ParameterStore& store) const {
  for (std::size_t i = 0; i < host_.size(); ++i) {
    ForEachStretch(i, [&](const Stretch& s) {
      store.Add(s.in_store, std::span(host_[i]).subspan(static_cast<std::size_t>(s.in_copy),
                                                        static_cast<std::size_t>(s.floats)));
    });
  }
}

std::vector<LayerGradient> MirroredLayers::OnHost() {
  std::vector<LayerGradient> layers;
  for (std::size_t i = 0; i < host_.size(); ++i) {
    const LayerView& there = blocks_.views()[i];
    const DeviceSpan<float> here = HostSpan(host_[i].data(), blocks_.floats(i));
    layers.push_back({.weights = Tensor::Matrix(here, there.weights.rows, there.weights.cols),
                      .bias = Tensor::Vector(here.Sub(blocks_.bias_at(i), there.bias.cols)),
                      .touched = {},
                      .touched_on_host = {}});
  }
  if (sparse_input_) {
    LayerGradient& first = layers.front();
    first.touched = HostSpan(touched_.data(), static_cast<std::int64_t>(touched_.size()));
    first.touched_on_host = touched_;
    first.is_sparse = true;
  }
  return layers;
}

}  // namespace hogbatch
