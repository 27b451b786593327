// One merge of a device that does not share host memory, from its rows to what it adds to the
// model.
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

// A copy of the model on the device, and the Δ made there. A worker whose merges overlap has
// several and uses them in turn. A pending Δ, one that is made and not yet merged, is missing in
// the store, so it is added to the next replica's copy.
class Replica {
 public:
  Replica(JobMemory& memory, Device& device);

  // Queues the upload of the rows. The Δ made here before must be merged.
  void LoadRows(RowRange rows);
  // Queues the upload of the present model, and adds the pending Δ of `earlier`, if any.
  void LoadWeights(const Replica* earlier);

  std::int64_t rows() const { return input_.rows(); }
  // Some of the loaded rows, counted from the first.
  BatchInput input(RowRange rows) const { return SliceRows(input_, rows); }
  Targets targets(RowRange rows) const { return SliceRows(targets_, input_.rows(), rows); }
  // For a sparse model: the rows of the first layer that the loaded rows touch.
  std::span<const std::int32_t> touched() const;
  std::span<const LayerView> weights() const { return weights_.on_device(); }
  std::span<const LayerView> delta() const { return delta_.on_device(); }

  // Copies losses out of the model's scratch, which the next update overwrites. The first loss is
  // that of loaded row `at`.
  void KeepLosses(const Tensor& losses, std::int64_t at);
  // Queue downloads: of all losses; of a layer whose Δ is complete. Unless Δ is what is merged, the
  // replica must have all updates of the layer, too.
  void DownloadLosses();
  void DownloadLayer(std::size_t layer);
  void DownloadGradient(std::size_t layer);  // made in the memory of Δ

  void WaitForLosses();
  void WaitForGradient();
  // Waits for the layer and merges it.
  void MergeLayer(std::size_t layer);

  const std::vector<float>& losses() const { return losses_; }
  // Synchronous training: the downloaded gradient.
  std::vector<LayerGradient> InboundGradient() { return delta_.InboundGradient(); }
  // The probes' part of Δ, after the last layer was merged.
  void ReadProbes(std::span<float> to) const;

  // Drops a pending Δ and frees the memory that grows with the number of rows. Nothing may be
  // queued.
  void ReleaseRows();

 private:
  bool is_pending(std::size_t layer) const { return marks_[layer].has_value(); }
  void AddPending(const Replica& earlier);
  // For a sparse first layer: adds those rows of Δ that this copy has, too.
  void AddPendingRows(const Replica& earlier);

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
  std::vector<std::optional<std::int64_t>> marks_;  // after each pending layer; none: merged
};

}  // namespace hogbatch
