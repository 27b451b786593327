// Computes a network's outputs for rows of a data set, on any device: for evaluation and
// prediction.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/aligned.h"
#include "core/ids.h"
#include "datasets/dataset.h"
#include "nn/layer_blocks.h"
#include "nn/model.h"
#include "runtime/batches/batch_copy.h"

namespace hogbatch {

class ForwardPass {
 public:
  ForwardPass(const ModelSpec& spec, Device& device);

  // The network's parameters, in the order of Layout(spec). They must not change until the next
  // call: a device that shares host memory uses them in place. Any other device keeps a copy.
  void SetParameters(const AlignedFloats& parameters);

  // The most rows that go through at once: more on a device to which they have to be copied.
  std::int64_t BlockRows(const Dataset& data) const;
  static std::int64_t MostRows(const ModelSpec& spec, const DeviceInfo& device);

  // Raw outputs of the rows, in host memory, valid until the next call.
  std::span<const float> Outputs(const Dataset& data, RowRange rows);

 private:
  Device& device_;
  ParameterLayout layout_;
  Model model_;
  BatchCopy batch_;
  std::optional<LayerBlocks> copy_;
  std::vector<LayerView> layers_;
  std::vector<float> outputs_;
};

}  // namespace hogbatch
