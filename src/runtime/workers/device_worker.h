// What all workers have in common, on any device: the order of a task, its losses, evaluation and
// synchronous rounds.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/error.h"
#include "nn/model.h"
#include "runtime/store/staleness_meter.h"
#include "runtime/workers/snapshot_evaluator.h"
#include "runtime/workers/sync_update.h"
#include "runtime/workers/worker.h"

namespace hogbatch {

class DeviceWorker : public Worker {
 public:
  void Compute(const Task& task, int merge) override {
    switch (task.kind) {
      case TaskKind::kTrain:
        if (merge == 0) memory_.MakeSnapshots();
        ++merges_;
        return Train(task, Part(task.rows, merge, task.merges));
      case TaskKind::kApply:
        return;
      case TaskKind::kSnapshot:
        beta_ = memory_.probes.Beta(memory_.store);
        return TakeSnapshot(task);
      case TaskKind::kEvaluate:
        return Evaluate(task);
      case TaskKind::kKeepLanes:
        return memory_.KeepLanes(task.snapshot, task.kept_lanes);
      case TaskKind::kSave:
        return Save(task);
      case TaskKind::kRestore:
        return Restore(task);
      case TaskKind::kRelease:
        Release();
    }
  }

  void Commit(const Task& task, int merge) override {
    if (task.kind == TaskKind::kApply) sync_update_.Apply(task);
    if (task.kind == TaskKind::kTrain) Merge(task, Part(task.rows, merge, task.merges));
  }

  bool merge_is_torn() const override { return merged_ == Merged::kTorn; }

  // MappingLost if zeros may have stood in for rows of the task.
  Report Finish(const Task& task) override {
    RequireReadable(memory_.data);
    const StalenessHistogram staleness = staleness_.Take();
    return {.task = task.id,
            .worker = id_,
            .loss_sum = std::exchange(loss_sum_, 0),
            .updates = task.merges * task.updates_per_merge + std::exchange(extra_updates_, 0),
            .merges = static_cast<std::int32_t>(staleness.count()),
            .max_batch_size = max_batch_size_,
            .staleness = staleness,
            .beta = std::exchange(beta_, std::nullopt),
            .has_exploded = task.kind == TaskKind::kSnapshot && has_exploded_,
            .evaluation = std::exchange(evaluation_, {}),
            .lanes = std::exchange(lanes_, std::vector<LaneReport>(memory_.lanes.size()))};
  }

 protected:
  DeviceWorker(WorkerId id, std::shared_ptr<Device> device, JobMemory& memory)
      : id_(id),
        device_(std::move(device)),
        memory_(memory),
        evaluator_(*device_, memory),
        sync_update_(id, *device_, memory),
        staleness_(memory.merges),
        lanes_(memory.lanes.size()) {}

  // The optimiser's state, and how many updates it has made. An optimiser that does not exist yet
  // leaves `saved` alone.
  virtual void SaveOptimizer(SavedWorker& saved) = 0;
  // The next update begins with a new optimiser.
  virtual void ForgetOptimizer() = 0;
  // What a resumed run had saved for this worker, or the last worker of an exclusive job for the
  // next one; null: nothing, or it is forgotten.
  const SavedWorker* saved() const {
    if (memory_.is_exclusive) return memory_.moved ? &*memory_.moved : nullptr;
    const std::optional<SavedWorker>& saved = memory_.saved_workers[id_];
    return saved && !has_restored_ ? &*saved : nullptr;
  }

  // Makes what one merge adds to the model, or a gradient to hold.
  virtual void Train(const Task& task, RowRange rows) = 0;
  virtual void Merge(const Task& task, RowRange rows) = 0;

  WorkerId id() const { return id_; }
  Device& device() { return *device_; }
  StalenessMeter& staleness() { return staleness_; }
  JobMemory& memory() const { return memory_; }
  std::int64_t merges() const { return merges_; }  // including the present one

  // Queues the download of the losses. AddLosses may follow after the device has been waited for.
  void DownloadLosses(const Tensor& losses) {
    row_losses_.resize(losses.cols);
    device_->Download(losses.data.base, losses.data.offset_bytes(),
                      std::as_writable_bytes(std::span(row_losses_)));
  }
  void AddLoss(double loss) { loss_sum_ += loss; }
  void AddLosses() { AddLosses(row_losses_); }
  void AddLosses(std::span<const float> losses) {
    for (const float loss : losses) loss_sum_ += loss;
  }

  // Of the present task.
  std::vector<LaneReport>& lane_reports() { return lanes_; }

  // kTorn while only a part of a merge is in the model.
  enum class Merged : std::uint8_t { kWhole, kTorn };
  void set_merged(Merged merged) { merged_ = merged; }

  // Device memory was too small for the task: more updates were made than it says, and from now on
  // a batch has at most `most` rows.
  void CountExtraUpdates(std::int32_t updates) { extra_updates_ += updates; }
  void LimitRows(std::int64_t most) { max_batch_size_ = most; }

  // Keeps the gradient for task.round.
  void Hold(const Task& task, RowRange rows, std::vector<LayerGradient> layers) {
    memory_.held[id_] = {.round = task.round, .rows = rows.size(), .layers = std::move(layers)};
  }

  // Scratch for batches of `rows` rows. If it is too small, it is replaced by scratch for `room`
  // rows.
  Model& ModelFor(std::int64_t rows, std::int64_t room) {
    if (!model_ || model_->max_rows() < rows) {
      ReleaseModel();
      model_.emplace(memory_.model, *device_, room, Use::kTraining);
    }
    return *model_;
  }
  // After all queued calls are done.
  void ReleaseModel() {
    if (!model_) return;
    device_->Wait();
    model_.reset();
  }

 private:
  void Save(const Task& task) {
    if (task.slice == 0) memory_.SaveWeights();
    if (memory_.is_exclusive) {
      memory_.ForgetSavedWorkers();
      return SaveExclusive(memory_.saved_workers[id_]);
    }
    std::optional<SavedWorker>& saved = memory_.saved_workers[id_];
    if (!saved || has_restored_) saved.emplace();
    SaveOptimizer(*saved);
    sync_update_.SaveTo(*saved);
  }

  // An optimiser that does not exist yet is as the worker before left it.
  void SaveExclusive(std::optional<SavedWorker>& saved) {
    SavedWorker mine = memory_.moved.value_or(SavedWorker{});
    SaveOptimizer(mine);
    saved = std::move(mine);
  }

  void Release() {
    device_->Wait();
    if (memory_.is_exclusive) SaveExclusive(memory_.moved);
  }

  // The initial model is in the snapshots already.
  void TakeSnapshot(const Task& task) {
    memory_.MakeSnapshots();
    if (!task.at_start) memory_.TakeSnapshot(task.snapshot);
    const std::span<const float> taken = memory_.snapshots[task.snapshot].span();
    has_exploded_ = !AllWithin(taken, kLargestWeight);
    for (std::size_t i = 0; has_exploded_ && i < lanes_.size(); ++i) {
      const auto lane = static_cast<std::int64_t>(i);
      lanes_[i].has_exploded = !AllWithin(LaneOf(memory_.model, taken, lane), kLargestWeight);
    }
  }

  void Restore(const Task& task) {
    if (task.slice == 0) memory_.RestoreSnapshot(task.snapshot);
    device_->Wait();
    has_restored_ = true;
    ForgetOptimizer();
    sync_update_.Forget();
  }

  // If device memory is short, the scratch of training is freed; training allocates it again.
  void Evaluate(const Task& task) {
    std::vector<EvaluationSums> sums;
    try {
      sums = evaluator_.Evaluate(task);
    } catch (const OutOfDeviceMemory&) {
      if (!model_) throw;
      ReleaseModel();
      sums = evaluator_.Evaluate(task);
    }
    if (lanes_.empty()) evaluation_ += sums.front();
    for (std::size_t i = 0; i < lanes_.size(); ++i) lanes_[i].evaluation += sums[i];
  }

  // not state: id_, device_, memory_, evaluator_, model_, row_losses_, merged_; loss_sum_,
  // evaluation_, staleness_, beta_, lanes_, has_exploded_ and extra_updates_ are reported;
  // max_batch_size_ is what the device's memory allows; has_restored_ is saved with the optimiser
  // that was forgotten; sync_update_ and merges_ are saved by SaveTo and SaveOptimizer.
  WorkerId id_;
  std::shared_ptr<Device> device_;  // several jobs may share it
  JobMemory& memory_;
  SnapshotEvaluator evaluator_;
  SyncUpdate sync_update_;
  std::optional<Model> model_;
  std::vector<float> row_losses_;
  std::int64_t merges_ = 0;
  double loss_sum_ = 0;
  EvaluationSums evaluation_;
  StalenessMeter staleness_;
  std::optional<double> beta_;
  std::vector<LaneReport> lanes_;
  bool has_exploded_ = false;  // the latest snapshot
  bool has_restored_ = false;
  Merged merged_ = Merged::kWhole;
  std::int32_t extra_updates_ = 0;
  std::int64_t max_batch_size_ = 0;
};

}  // namespace hogbatch
