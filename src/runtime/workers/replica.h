// Updates on a device that shares no host memory, from their rows to what they bring the model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "device/buffer.h"
#include "runtime/batches/batch.h"
#include "runtime/batches/batch_copy.h"
#include "runtime/batches/reused_memory.h"
#include "runtime/store/job_memory.h"
#include "runtime/workers/delta_maker.h"
#include "runtime/workers/mirrored_layers.h"

namespace hogbatch {

// A copy of the model on the device and the Δ made there. A worker that overlaps its work has
// several and uses them in turn: what one has made and not yet merged the next one's copy must
// have, since the store does not. Calls that queue return before they are done.
class Replica {
 public:
  Replica(JobMemory& memory, Device& device);

  // Queues the way of the rows to the device. What was made here before must be merged.
  void Load(RowRange rows);
  // Queues the way of the model as it is now, to which what `earlier` has not merged is added.
  void Refresh(const Replica* earlier);

  // Some of the rows that were loaded, counted from the first.
  BatchInput input(RowRange rows) const { return SliceRows(input_, rows); }
  Targets targets(RowRange rows) const { return SliceRows(targets_, input_.rows(), rows); }
  // Of a sparse model: the rows of the first layer that the loaded rows touch.
  std::span<const std::int32_t> touched() const;
  std::span<const LayerView> weights() const { return weights_.on_device(); }
  std::span<const LayerView> delta() const { return delta_.on_device(); }

  // Sets losses aside: they lie among what the next update will compute in. The first is that of
  // row `at` of those that were loaded.
  void KeepLosses(const Tensor& losses, std::int64_t at);
  // After all losses were kept, and after the layer's Δ is complete: queue their ways back. The
  // layer of the copy must have made all updates if it is not Δ that is merged.
  void SendLosses();
  void SendLayer(std::size_t layer);
  void SendGradient(std::size_t layer);  // that was made in the place of Δ

  // Wait for what was sent, as little as need be.
  void AwaitLosses();
  void MergeLayer(std::size_t layer);  // and merge it
  void AwaitGradient();

  const std::vector<float>& losses() const { return losses_; }
  // What has come in the place of Δ: a gradient, in synchronous training.
  std::vector<LayerGradient> DeltaOnHost() { return delta_.OnHost(); }
  // The probes' part of Δ, when the last layer is merged.
  void ReadProbes(std::span<float> to) const;

  // Forgets what was sent and lets go of memory that is as large as the rows. Nothing may be
  // queued.
  void ReleaseRows();

 private:
  bool waits(std::size_t layer) const { return marks_[layer].has_value(); }
  void AddWaiting(const Replica& earlier);
  // Adds rows of a sparse first layer's Δ to those rows of this copy that are the same weights.
  void AddTouched(const Replica& earlier);

  JobMemory& memory_;
  Device& device_;
  std::optional<ColumnCompactor> compactor_;
  BatchCopy batch_;
  BatchInput input_;
  Targets targets_;
  MirroredLayers weights_;
  MirroredLayers delta_;
  std::vector<std::int32_t> places_;  // of another replica's touched rows among this one's
  ReusedMemory places_on_device_;
  Buffer losses_on_device_;
  std::vector<float> losses_;
  std::int64_t losses_mark_ = 0;
  std::vector<std::optional<std::int64_t>> marks_;  // behind each layer on its way; none: merged
};

}  // namespace hogbatch
