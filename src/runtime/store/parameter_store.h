// The one model that everybody trains: a flat array in host memory that all workers read and write
// at once, without locks: CPU workers in place, the others by copies and additions. It is the only
// racy memory in the program; core/racy.h says why that is sound.
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

  // The array itself: for filling it before workers start and reading it after they ended.
  std::span<float> quiet() const { return floats_.span(); }

  // Copies the model while others may write to it: every float is whole, the set is of no single
  // moment.
  void CopyTo(std::span<float> to) const { Read(0, to); }

  // The same for the floats from `at` on, as the layout counts them.
  void Read(std::int64_t at, std::span<float> to) const;
  // Adds to what others may change meanwhile.
  void Add(std::int64_t at, std::span<const float> what);
  // Draws it towards `what` by `share` of the distance.
  void Blend(std::int64_t at, std::span<const float> what, float share);
  // Replaces it, and whatever others add at this time.
  void Write(std::int64_t at, std::span<const float> what);

 private:
  ParameterLayout layout_;
  AlignedFloats floats_;
  std::vector<LayerView> views_;
};

}  // namespace hogbatch
