// The one model that all workers train: a flat array in host memory that they read and write
// concurrently, without locks. CPU workers train in place, the others by copies and additions. It
// is the only racy memory in the program; core/racy.h says why that is sound.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/aligned.h"
#include "device/tensor.h"
#include "nn/model.h"

namespace hogbatch {

class ParameterStore {
 public:
  explicit ParameterStore(ParameterLayout layout)
      : layout_(std::move(layout)),
        floats_(layout_.floats),
        views_(ViewLayers(layout_, HostSpan(floats_.data(), layout_.floats))) {}

  const ParameterLayout& layout() const { return layout_; }

  // The layers where a device that shares host memory trains them.
  std::span<const LayerView> views() const { return views_; }

  // The array itself, for use while no worker trains: before the run and after it.
  std::span<float> idle_weights() const { return floats_.span(); }

  // Copies the model while others may write to it. Every float is whole, but they may be of
  // different moments.
  void CopyTo(std::span<float> to) const { Read(0, to); }

  // The same for a part of the model that begins at float `at` of the layout.
  void Read(std::int64_t at, std::span<float> to) const;
  // Adds to a part of the model. Others may change it meanwhile.
  void Add(std::int64_t at, std::span<const float> what);
  // Moves a part of the model towards `what` by `share` of the distance.
  void Blend(std::int64_t at, std::span<const float> what, float share);
  // Replaces a part of the model, with all that others add to it at this time.
  void Write(std::int64_t at, std::span<const float> what);

 private:
  ParameterLayout layout_;
  AlignedFloats floats_;
  std::vector<LayerView> views_;
};

// Whether no number is NaN or larger than `most`, whatever its sign.
bool AllWithin(std::span<const float> floats, float most);

}  // namespace hogbatch
