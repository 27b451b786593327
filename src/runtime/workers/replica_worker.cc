#include "runtime/workers/replica_worker.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/error.h"
#include "device/buffer.h"
#include "runtime/workers/delta_maker.h"
#include "runtime/workers/device_worker.h"
#include "runtime/workers/replica.h"

namespace hogbatch {
namespace {

class ReplicaWorker : public DeviceWorker {
 public:
  ReplicaWorker(WorkerId id, std::shared_ptr<Device> owned, JobMemory& memory)
      : DeviceWorker(id, std::move(owned), memory),
        class_weights_memory_(device(), memory.class_weights.size() * sizeof(float)) {
    MakeReplicas();
    if (memory.class_weights.empty()) return;
    class_weights_ = Tensor::Vector(class_weights_memory_.span<float>());
    device().Upload(std::as_bytes(std::span(memory.class_weights)), class_weights_.data.base, 0);
  }

 private:
  // A replica, and the merge that is made with it, from its Compute to its Commit.
  struct ReplicaSlot {
    ReplicaSlot(JobMemory& memory, Device& device) : replica(memory, device) {}
    Replica replica;
    StalenessMeter::ReadAt read;
    bool in_parts = false;  // device memory was too small for it: nothing is queued
  };

  // Makes an update of one row and drops it. Host memory for transfers is kept: it is slow to
  // allocate.
  void Prepare() override {
    for (const auto& slot : slots_) {
      try {
        Queue(*slot, {}, {.rows = {0, 1}});
      } catch (const OutOfDeviceMemory&) {  // the first task handles it
      }
      ReleaseRows(*slot);
    }
    delta_maker_.reset();
    replica_updates_ = 0;
  }

  void MakeReplicas() {
    for (int i = 0; i < std::max(1, device().info().depth); ++i) {
      slots_.push_back(std::make_unique<ReplicaSlot>(memory(), device()));
    }
  }

  // Replicas are used in turn, and merged in the same order.
  void Train(const Task& task, RowRange rows) override {
    ReplicaSlot& slot = *slots_[trained_ % slots_.size()];
    slot.in_parts = false;
    try {
      Queue(slot, task, PlanOf(task, rows));
    } catch (const OutOfDeviceMemory&) {
      ReleaseRows(slot);
      if (task.hold) {
        QueueInMoreParts(slot, task, rows);
      } else {
        slot.in_parts = true;
      }
    }
    ++trained_;
  }

  void Merge(const Task& task, RowRange rows) override {
    ReplicaSlot& slot = *slots_[merged_++ % slots_.size()];
    if (!task.hold) return slot.in_parts ? TrainInParts(slot, task, rows) : FinishMerge(slot);
    slot.replica.WaitForGradient();
    AddLosses(slot.replica.losses());
    Hold(task, rows, slot.replica.InboundGradient());
  }

  // How one merge is made. With Task::hold its updates are the parts of one gradient.
  struct MergePlan {
    RowRange rows;
    std::int32_t updates = 1;
    float learning_rate = 0;  // of each update

    // Counted from the first row.
    RowRange RowsOf(std::int32_t update) const { return Part({0, rows.size()}, update, updates); }
    bool IsLast(std::int32_t update) const { return update + 1 == updates; }
  };

  MergePlan PlanOf(const Task& task, RowRange rows) const {
    const auto most = static_cast<std::int32_t>(rows.size());
    return {.rows = rows,
            .updates = task.hold ? std::min(gradient_parts_, most) : task.updates_per_merge,
            .learning_rate = task.learning_rate};
  }

  // Device memory is exhausted: this gradient and all later ones are added up from smaller batches.
  // All rows are still on the device at once; only the scratch is smaller.
  void QueueInMoreParts(ReplicaSlot& slot, const Task& task, RowRange rows) {
    for (bool is_queued = false; !is_queued;) {
      gradient_parts_ *= 2;
      try {
        Queue(slot, task, PlanOf(task, rows));
        is_queued = true;
      } catch (const OutOfDeviceMemory&) {
        if (gradient_parts_ >= rows.size()) throw;
        ReleaseRows(slot);
      }
    }
  }

  void Queue(ReplicaSlot& slot, const Task& task, const MergePlan& plan) {
    const std::int64_t most = (plan.rows.size() + plan.updates - 1) / plan.updates;
    Model& model = ModelFor(most, most);
    slot.replica.LoadRows(plan.rows);
    slot.read = staleness().Read();
    slot.replica.LoadWeights(Other(slot));
    for (std::int32_t update = 0; update < plan.updates; ++update) {
      if (task.hold) {
        QueueGradientPart(slot.replica, model, plan, update);
      } else {
        QueueUpdate(slot.replica, model, plan, update);
      }
    }
  }

  // Returns the rows that went forward.
  BatchInput QueueForward(Replica& replica, Model& model, RowRange rows) {
    const BatchInput input = replica.input(rows);
    model.Forward(input, replica.weights());
    replica.KeepLosses(model.ComputeLoss(replica.targets(rows), class_weights_), rows.begin);
    if (rows.end == replica.rows()) replica.DownloadLosses();
    return input;
  }

  // The gradient is made in the memory of Δ.
  void QueueGradientPart(Replica& replica, Model& model, const MergePlan& plan, std::int32_t part) {
    const RowRange rows = plan.RowsOf(part);
    const BatchInput input = QueueForward(replica, model, rows);
    const float share = static_cast<float>(rows.size()) / static_cast<float>(plan.rows.size());
    model.Backward(input, input, replica.weights(), GradientTargets(replica, share, part),
                   [&](std::size_t layer) {
                     if (plan.IsLast(part)) replica.DownloadGradient(layer);
                   });
  }

  // As soon as the last update has made a layer, the download of the layer's Δ is queued.
  void QueueUpdate(Replica& replica, Model& model, const MergePlan& plan, std::int32_t update) {
    using Destination = DeltaMaker::Destination;
    const BatchInput input = QueueForward(replica, model, plan.RowsOf(update));
    const bool updates_replica = !plan.IsLast(update) || memory().merge != Merge::kDelta;
    const Destination destination = update == 0       ? Destination::kDelta
                                    : updates_replica ? Destination::kAside
                                                      : Destination::kOnDelta;
    DeltaMaker& maker = delta_maker();
    const auto targets =
        maker.Targets(plan.learning_rate, replica.touched(), replica.delta(), destination);
    ++replica_updates_;
    model.Backward(input, input, replica.weights(), targets, [&](std::size_t layer) {
      const LayerView& weights = replica.weights()[layer];
      const LayerView& delta = replica.delta()[layer];
      maker.Make(layer, plan.learning_rate, replica_updates_, weights, delta);
      if (updates_replica && !maker.AddToReplica(layer, weights, delta)) {
        model.AddGradient(layer, input,
                          {.weights = weights.weights,
                           .bias = weights.bias,
                           .scale = -plan.learning_rate,
                           .keep = 1});
      }
      if (plan.IsLast(update)) replica.DownloadLayer(layer);
    });
  }

  // The last layers arrive first and are merged while the first ones are still made.
  void FinishMerge(ReplicaSlot& slot) {
    Replica& replica = slot.replica;
    replica.WaitForLosses();
    AddLosses(replica.losses());
    const std::size_t layers = memory().store.layout().layers.size();
    for (std::size_t i = layers; i-- > 0;) {
      replica.MergeLayer(i);
      set_merged(Merged::kTorn);
    }
    set_merged(Merged::kWhole);
    staleness().Merged(slot.read);
    std::array<float, Probes::kMax> added;
    const auto probes = std::span(added).first(memory().probes.positions().size());
    replica.ReadProbes(probes);
    memory().probes.Expect(id(), probes);
  }

  // Device memory is exhausted: several smaller merges are made instead of one, each with its share
  // of the learning rate. This happens in Commit, not in Compute. If the next Compute fails, this
  // merge has changed nothing yet, and its rows can be given to another worker.
  void TrainInParts(ReplicaSlot& slot, const Task& task, RowRange rows) {
    const float whole_rate = task.learning_rate * static_cast<float>(task.updates_per_merge);
    std::int64_t part = (rows.size() + 1) / 2;
    std::int32_t updates = 0;
    for (RowRange left = rows; left.size() > 0;) {
      ReleaseRows(slot);
      const RowRange now{left.begin, std::min(left.end, left.begin + part)};
      const float share = static_cast<float>(now.size()) / static_cast<float>(rows.size());
      const auto count = std::max(1, static_cast<std::int32_t>(std::lround(
                                         share * static_cast<float>(task.updates_per_merge))));
      try {
        Queue(slot, task,
              {.rows = now,
               .updates = count,
               .learning_rate = whole_rate * share / static_cast<float>(count)});
      } catch (const OutOfDeviceMemory&) {
        if (part == 1) throw;
        part = (part + 1) / 2;
        continue;
      }
      FinishMerge(slot);
      updates += count;
      left.begin = now.end;
      if (left.size() > 0) set_merged(Merged::kTorn);
    }
    CountExtraUpdates(updates - task.updates_per_merge);
    LimitRows(part);
  }

  void ReleaseRows(ReplicaSlot& slot) {
    device().Wait();
    ReleaseModel();
    slot.replica.ReleaseRows();
  }

  // The replica of the other slot; it knows what is pending.
  const Replica* Other(const ReplicaSlot& slot) const {
    for (const auto& other : slots_) {
      if (other.get() != &slot) return &other->replica;
    }
    return nullptr;
  }

  // The mean over all rows is the sum of the means over parts of them, each times its share.
  std::span<const GradientTarget> GradientTargets(const Replica& replica, float share,
                                                  std::int32_t part) {
    gradient_targets_.clear();
    for (const LayerView& layer : replica.delta()) {
      gradient_targets_.push_back({.weights = layer.weights,
                                   .bias = layer.bias,
                                   .scale = share,
                                   .keep = part == 0 ? 0.0f : 1.0f});
    }
    return gradient_targets_;
  }

  // Made at its first use: held gradients are applied by SyncUpdate, which has its own state.
  DeltaMaker& delta_maker() {
    if (!delta_maker_) {
      delta_maker_.emplace(memory().model, memory().optimizer, memory().explicit_momentum,
                           device());
      if (saved() && saved()->optimizer) {
        delta_maker_->optimizer().Load(*saved()->optimizer);
        replica_updates_ = saved()->updates;
      }
    }
    return *delta_maker_;
  }

  void SaveOptimizer(SavedWorker& saved) override {
    if (!delta_maker_) return;
    saved.updates = replica_updates_;
    saved.optimizer = delta_maker_->optimizer().Save();
  }

  void ForgetOptimizer() override {
    delta_maker_.reset();
    replica_updates_ = 0;
  }

  // not state: slots_, trained_, merged_, class_weights_memory_, class_weights_,
  // gradient_targets_; gradient_parts_ is what the device's memory allows.
  std::vector<std::unique_ptr<ReplicaSlot>> slots_;
  Buffer class_weights_memory_;
  Tensor class_weights_;
  std::optional<DeltaMaker> delta_maker_;
  std::vector<GradientTarget> gradient_targets_;
  std::int64_t trained_ = 0;
  std::int64_t merged_ = 0;
  std::int64_t replica_updates_ = 0;  // of all merges
  std::int32_t gradient_parts_ = 1;   // batches that a gradient for a round is added up from
};

}  // namespace

std::unique_ptr<Worker> MakeReplicaWorker(WorkerId id, std::shared_ptr<Device> device,
                                          JobMemory& memory) {
  return std::make_unique<ReplicaWorker>(id, std::move(device), memory);
}

}  // namespace hogbatch
