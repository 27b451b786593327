// The lanes of an exclusive job on a device that does not share host memory. The weights stay there
// while the worker has the job; each merge brings them back to the store.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/aligned.h"
#include "device/buffer.h"
#include "nn/layer_blocks.h"
#include "runtime/batches/batch.h"
#include "runtime/batches/batch_copy.h"
#include "runtime/batches/reused_memory.h"
#include "runtime/store/job_memory.h"

namespace hogbatch {

class LaneReplica {
 public:
  // Copies the weights of the store.
  LaneReplica(JobMemory& memory, Device& device);

  // Queues the upload of the rows. The device was waited for since the last ones.
  void Load(RowRange rows);
  // Some of the loaded rows, counted from the first.
  BatchInput input(RowRange rows) const { return SliceRows(input_, rows); }
  Targets targets(RowRange rows) const { return SliceRows(targets_, input_.rows(), rows); }

  // For private gradients: all loaded rows with the columns that occur renumbered, and these
  // columns. Of dense rows: the rows themselves.
  BatchInput Compacted(const BatchInput& input);
  std::span<const std::int32_t> touched() const;
  DeviceSpan<const std::int32_t> touched_on_device() const { return touched_on_device_; }

  std::span<const LayerView> weights() const { return blocks_.views(); }
  Tensor class_weights() const;

  // Waits for the updates of a merge and copies the weights. The next merge but one may begin when
  // they are written to the store.
  void Keep();
  void WriteToStore();
  void ClearLane(std::int64_t lane);

 private:
  void Upload(const AlignedFloats& flat);
  void Download(const AlignedFloats& flat);
  std::span<float> FloatsOf(std::size_t layer, const AlignedFloats& flat) const;

  JobMemory& memory_;
  Device& device_;
  LayerBlocks blocks_;
  Buffer class_weights_;
  BatchCopy batch_;
  BatchInput input_;
  Targets targets_;
  RowRange rows_;
  std::optional<ColumnCompactor> compactor_;
  BatchCopy compacted_;
  ReusedMemory touched_memory_;
  DeviceSpan<const std::int32_t> touched_on_device_;
  std::array<AlignedFloats, 2> kept_;  // in turn: two merges may be in flight
  std::size_t made_ = 0;
  std::size_t written_ = 0;
};

}  // namespace hogbatch
