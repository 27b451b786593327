// What workers on a device have in common, wherever the device trains: the order of a task, its
// losses, evaluation and common steps.
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
        ++updates_;
        return Train(task, Part(task.rows, merge, task.merges));
      case TaskKind::kApply:
        return;
      case TaskKind::kSnapshot:
        beta_ = memory_.probes.Beta(memory_.store);
        return memory_.TakeSnapshot(task.snapshot);
      case TaskKind::kEvaluate:
        evaluation_ += Evaluate(task);
    }
  }

  void Commit(const Task& task, int merge) override {
    if (task.kind == TaskKind::kApply) sync_update_.Apply(task);
    if (task.kind == TaskKind::kTrain) Merge(task, Part(task.rows, merge, task.merges));
  }

  bool tore_merge() const override { return torn_ == Torn::kYes; }

  Report Finish(const Task& task) override {
    const StalenessHistogram staleness = staleness_.Take();
    return {.task = task.id,
            .worker = id_,
            .loss_sum = std::exchange(loss_sum_, 0),
            .updates = task.merges * task.updates_per_merge + std::exchange(extra_updates_, 0),
            .merges = static_cast<std::int32_t>(staleness.count()),
            .max_batch_size = max_batch_size_,
            .staleness = staleness,
            .beta = std::exchange(beta_, std::nullopt),
            .evaluation = std::exchange(evaluation_, {})};
  }

 protected:
  DeviceWorker(WorkerId id, std::unique_ptr<Device> device, JobMemory& memory)
      : id_(id),
        device_(std::move(device)),
        memory_(memory),
        evaluator_(*device_, memory),
        sync_update_(*device_, memory),
        staleness_(memory.merges) {}

  // Makes the gradient of one update, or what it adds to the model.
  virtual void Train(const Task& task, RowRange rows) = 0;
  virtual void Merge(const Task& task, RowRange rows) = 0;

  WorkerId id() const { return id_; }
  Device& device() { return *device_; }
  StalenessMeter& staleness() { return staleness_; }
  JobMemory& memory() const { return memory_; }
  std::int64_t updates() const { return updates_; }  // the present one counted

  // Losses travel to the host; after the device was waited for they can be added up.
  void DownloadLosses(const Tensor& losses) {
    row_losses_.resize(static_cast<std::size_t>(losses.cols));
    device_->Download(losses.data.base,
                      static_cast<std::size_t>(losses.data.offset) * sizeof(float),
                      std::as_writable_bytes(std::span(row_losses_)));
  }
  void AddLosses() { AddLosses(row_losses_); }
  void AddLosses(std::span<const float> losses) {
    for (const float loss : losses) loss_sum_ += loss;
  }

  // kYes from the moment an update begins to change the model until all of it is there.
  enum class Torn : std::uint8_t { kNo, kYes };
  void set_torn(Torn torn) { torn_ = torn; }

  // Memory was too short: another number of updates was made than asked for, and they may have so
  // many rows from now on.
  void CountExtraUpdates(std::int32_t updates) { extra_updates_ += updates; }
  void LimitRows(std::int64_t most) { max_batch_size_ = most; }

  // Keeps the gradient for the common step of task.round.
  void Hold(const Task& task, RowRange rows, std::vector<LayerGradient> layers) {
    memory_.held[static_cast<std::size_t>(id_)] = {
        .round = task.round, .rows = rows.size(), .layers = std::move(layers)};
  }

  // Scratch for batches of `rows` rows; if it is made anew, for `room` rows.
  Model& ModelFor(std::int64_t rows, std::int64_t room) {
    if (!model_ || model_->max_rows() < rows) {
      ReleaseModel();
      model_.emplace(memory_.model, *device_, room, Use::kTraining);
    }
    return *model_;
  }
  // Waits for whatever is queued on it.
  void ReleaseModel() {
    if (!model_) return;
    device_->Wait();
    model_.reset();
  }

 private:
  // Training's scratch makes room where memory is short; it is made again, for fewer rows if need
  // be.
  EvaluationSums Evaluate(const Task& task) {
    try {
      return evaluator_.Evaluate(task);
    } catch (const OutOfDeviceMemory&) {
      if (!model_) throw;
      ReleaseModel();
    }
    return evaluator_.Evaluate(task);
  }

  WorkerId id_;
  std::unique_ptr<Device> device_;
  JobMemory& memory_;
  SnapshotEvaluator evaluator_;
  SyncUpdate sync_update_;
  std::optional<Model> model_;
  std::vector<float> row_losses_;
  std::int64_t updates_ = 0;
  double loss_sum_ = 0;
  EvaluationSums evaluation_;
  StalenessMeter staleness_;
  std::optional<double> beta_;
  Torn torn_ = Torn::kNo;
  std::int32_t extra_updates_ = 0;
  std::int64_t max_batch_size_ = 0;
};

}  // namespace hogbatch
