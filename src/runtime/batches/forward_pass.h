// Rows of a data set through a network, on any device: what evaluation and prediction have in
// common.
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

  // The network's parameters, in the order of Layout(spec). They stay as they are until the next
  // call: a device that shares host memory uses them where they are, any other a copy that it keeps
  // meanwhile.
  void SetParameters(const AlignedFloats& parameters);

  // How many rows of the data go through at once at most: more where they have a way to go.
  std::int64_t BlockRows(const Dataset& data) const;
  static std::int64_t MostRows(const ModelSpec& spec, const DeviceInfo& device);

  // Raw outputs of the rows in host memory, good until the next call.
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
