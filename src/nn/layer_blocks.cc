#include "nn/layer_blocks.h"

#include "core/error.h"

namespace hogbatch {

ParameterLayout WithFirstHeight(const ParameterLayout& layout, std::int64_t rows) {
  ParameterLayout other;
  other.lanes = layout.lanes;
  for (const LayerShape& shape : layout.layers) {
    other.Append(other.layers.empty() ? rows : shape.in, shape.out, shape.activation,
                 shape.width / shape.out);
  }
  return other;
}

LayerBlocks::LayerBlocks(Device& device, const ParameterLayout& layout)
    : device_(device),
      shapes_(layout.layers),
      blocks_(layout.layers.size()),
      views_(layout.layers.size()) {
  for (std::size_t i = 0; i < shapes_.size(); ++i) Place(i, shapes_[i].in);
}

void LayerBlocks::SetFirstHeight(std::int64_t rows) {
  // There is no block if the last allocation failed.
  if (rows != shapes_.front().in || blocks_.front().bytes() == 0) Place(0, rows);
}

void LayerBlocks::Place(std::size_t layer, std::int64_t rows) {
  ParameterLayout alone;
  const LayerShape& shape = shapes_[layer];
  alone.Append(rows, shape.out, shape.activation, shape.width / shape.out);
  const std::size_t bytes = alone.floats * sizeof(float);
  if (blocks_[layer].bytes() < bytes) {
    if (blocks_[layer].bytes() > 0) device_.Wait();  // for what is queued on the old one
    blocks_[layer] = Buffer();                       // first: there may be no room for both
    blocks_[layer] = Buffer(device_, bytes);
  }
  shapes_[layer] = alone.layers.front();
  views_[layer] = ViewLayers(alone, blocks_[layer].span<float>()).front();
}

void LayerBlocks::Upload(std::size_t layer, std::span<const float> from) {
  Check(static_cast<std::int64_t>(from.size()) == floats(layer), "a layer's copy has its size");
  device_.Upload(std::as_bytes(from), blocks_[layer].span<float>().base, 0);
}

void LayerBlocks::Download(std::size_t layer, std::span<float> to) {
  Check(static_cast<std::int64_t>(to.size()) == floats(layer), "a layer's copy has its size");
  device_.Download(blocks_[layer].span<float>().base, 0, std::as_writable_bytes(to));
}

}  // namespace hogbatch
