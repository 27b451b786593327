#include "runtime/workers/worker.h"

#include <chrono>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/batches/batch.h"
#include "runtime/workers/deferred_updates.h"
#include "runtime/workers/device_worker.h"
#include "runtime/workers/faster_variant.h"
#include "runtime/workers/lane_worker.h"
#include "runtime/workers/private_gradient.h"
#include "runtime/workers/probe_recorder.h"
#include "runtime/workers/replica_worker.h"

namespace hogbatch {
namespace {

// A worker on a device that shares host memory: it trains in the store itself.
class SharingWorker : public DeviceWorker {
 public:
  SharingWorker(WorkerId id, std::shared_ptr<Device> device, JobMemory& memory, Writes writes)
      : DeviceWorker(id, std::move(device), memory),
        writes_(writes),
        can_defer_(!memory.is_exclusive && memory.held.size() > 1 &&
                   DeferredUpdates::Suits(memory.model)),
        probe_recorder_(id, memory, this->device()) {
    class_weights_ = Tensor::Vector(HostSpan(std::span(memory.class_weights)));
    if (saved()) updates_before_ = saved()->updates;
  }

 private:
  void Merge(const Task& task, RowRange) override {
    if (task.hold || WritesDirectly(task)) return;
    probe_recorder_.RecordStep(gradient_->layers().back(), task.learning_rate, optimizer_updates());
    set_merged(Merged::kTorn);
    for (std::size_t layer = 0; layer < gradient_->layers().size(); ++layer) {
      optimizer().Step(static_cast<int>(layer), gradient_->layers()[layer], task.learning_rate,
                       optimizer_updates(), memory().store.views()[layer]);
    }
    device().Wait();
    set_merged(Merged::kWhole);
    staleness().Merged(read_);
  }

  // A `keep` of 0 would mean "clear the target", so decay that keeps nothing goes through Merge.
  bool WritesDirectly(const Task& task) {
    return writes_ == Writes::kAsComputed && !task.hold && optimizer().direct() &&
           KeptBy(task.learning_rate) > 0;
  }

  // Made at its first use: held gradients are applied by SyncUpdate, which has its own state.
  Optimizer& optimizer() {
    if (!optimizer_) {
      optimizer_ =
          MakeOptimizer(memory().optimizer, memory().explicit_momentum, memory().model, device());
      if (saved() && saved()->optimizer) optimizer_->Load(*saved()->optimizer);
    }
    return *optimizer_;
  }

  void SaveOptimizer(SavedWorker& saved) override {
    if (!optimizer_) return;
    saved.updates = optimizer_updates();
    saved.optimizer = optimizer_->Save();
  }
  void ForgetOptimizer() override {
    optimizer_.reset();
    updates_before_ = -merges();
  }
  std::int64_t optimizer_updates() const { return updates_before_ + merges(); }

  void Train(const Task& task, RowRange rows) override {
    const bool may_defer = MayDefer(task, rows);
    if (!may_defer || variant_.present() == 0) Flush();
    if (!may_defer) return TrainNow(task, rows);
    const auto start = std::chrono::steady_clock::now();
    try {
      variant_.present() == 0 ? TrainNow(task, rows) : TrainDeferred(task, rows);
    } catch (...) {
      Flush();  // the merge before counts as done
      throw;
    }
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    variant_.Add(taken.count() / static_cast<double>(rows.size()));
    if (rows.end == task.rows.end) Flush();
  }

  void Flush() {
    if (deferred_) deferred_->Flush();
  }

  bool MayDefer(const Task& task, RowRange rows) {
    return can_defer_ && WritesDirectly(task) && rows.size() <= DeferredUpdates::kMostRows;
  }

  void TrainDeferred(const Task& task, RowRange rows) {
    if (!deferred_) deferred_.emplace(memory().model, device(), memory().store.views());
    const BatchInput input = ViewInput(memory().data, rows);
    const StalenessMeter::ReadAt read = staleness().Read();
    set_merged(Merged::kTorn);
    deferred_->Forward(input, DirectTargets(task.learning_rate));
    set_merged(Merged::kWhole);
    const Tensor losses = deferred_->ComputeLoss(ViewTargets(memory().data, rows), class_weights_);
    probe_recorder_.RecordDirect(deferred_->last_layer(), task.learning_rate,
                                 KeptBy(task.learning_rate));
    deferred_->Backward();
    staleness().Merged(read);
    DownloadLosses(losses);
    device().Wait();
    AddLosses();
  }

  void TrainNow(const Task& task, RowRange rows) {
    // The last batch of a range of rows may be larger.
    Model& model = ModelFor(rows.size(), rows.size() + rows.size() / 2 + 1);
    const BatchInput input = ViewInput(memory().data, rows);
    read_ = staleness().Read();
    model.Forward(input, memory().store.views());
    const Tensor losses = model.ComputeLoss(ViewTargets(memory().data, rows), class_weights_);
    if (WritesDirectly(task)) {
      probe_recorder_.RecordDirect(model.last_layer(input), task.learning_rate,
                                   KeptBy(task.learning_rate));
      set_merged(Merged::kTorn);
      model.Backward(input, input, memory().store.views(), DirectTargets(task.learning_rate));
      staleness().Merged(read_);
    } else {
      MakeGradient(model, input, rows);
    }
    DownloadLosses(losses);
    device().Wait();
    AddLosses();
    set_merged(Merged::kWhole);
    // Only now: the round must not see the gradient of a task that fails.
    if (task.hold) Hold(task, rows, gradient_->layers());
  }

  float KeptBy(float learning_rate) const {
    return Keep(memory().optimizer.weight_decay, learning_rate);
  }

  // Straight into the shared weights, layer by layer.
  std::span<const GradientTarget> DirectTargets(float learning_rate) {
    const float keep = KeptBy(learning_rate);
    direct_targets_.clear();
    for (const LayerView& view : memory().store.views()) {
      direct_targets_.push_back(
          {.weights = view.weights, .bias = view.bias, .scale = -learning_rate, .keep = keep});
    }
    return direct_targets_;
  }

  void MakeGradient(Model& model, const BatchInput& input, RowRange rows) {
    if (!gradient_) gradient_.emplace(memory().model, device());
    if (input.is_sparse && !compactor_) compactor_.emplace(memory().model.inputs);
    const BatchInput first = input.is_sparse ? compactor_->Compact(memory().data, rows) : input;
    const auto touched =
        input.is_sparse ? std::span(compactor_->touched()) : std::span<const std::int32_t>();
    model.Backward(input, first, memory().store.views(),
                   gradient_->Targets(touched, HostSpan(touched)));
  }

  // not state: writes_, can_defer_, probe_recorder_, read_, class_weights_, gradient_, compactor_,
  // direct_targets_; deferred_ has nothing pending between tasks; variant_ is measured again;
  // updates_before_ is a part of optimizer_updates.
  Writes writes_;
  // Only several workers on one model can gain by it, and a job that must end with the same bits on
  // every run must not depend on what is faster.
  bool can_defer_;
  ProbeRecorder probe_recorder_;
  StalenessMeter::ReadAt read_;
  std::unique_ptr<Optimizer> optimizer_;
  std::int64_t updates_before_ = 0;  // those of a resumed run, less those of a forgotten optimiser
  Tensor class_weights_;
  std::optional<PrivateGradient> gradient_;
  std::optional<ColumnCompactor> compactor_;
  std::vector<GradientTarget> direct_targets_;
  std::optional<DeferredUpdates> deferred_;
  FasterVariant variant_;  // 0: updates as they are computed, 1: deferred
};

}  // namespace

std::unique_ptr<Worker> MakeWorker(WorkerId id, std::shared_ptr<Device> device, JobMemory& memory,
                                   Writes writes) {
  if (!memory.lanes.empty()) return MakeLaneWorker(id, std::move(device), memory);
  if (!device->info().shares_host_memory) return MakeReplicaWorker(id, std::move(device), memory);
  return std::make_unique<SharingWorker>(id, std::move(device), memory, writes);
}

}  // namespace hogbatch
