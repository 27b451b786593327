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
  ReplicaWorker(WorkerId id, std::unique_ptr<Device> owned, JobMemory& memory)
      : DeviceWorker(id, std::move(owned), memory),
        class_weights_memory_(device(), memory.class_weights.size() * sizeof(float)) {
    MakeSlots();
    if (memory.class_weights.empty()) return;
    class_weights_ = Tensor::Vector(class_weights_memory_.span<float>());
    device().Upload(std::as_bytes(std::span(memory.class_weights)), class_weights_.data.base, 0);
  }

 private:
  // A part of a task between Train and Merge.
  struct Slot {
    Slot(JobMemory& memory, Device& device) : replica(memory, device) {}
    Replica replica;
    StalenessMeter::ReadAt read;
    bool in_parts = false;  // memory was too short for it at once: nothing is queued
  };

  // As the first updates, of one row each, which are forgotten. Memory that travels stays: it takes
  // long to get.
  void Prepare() override {
    for (const auto& slot : slots_) {
      try {
        Queue(*slot, {}, {.rows = {0, 1}});
      } catch (const OutOfDeviceMemory&) {  // updates find a way, or say so
      }
      ReleaseRows(*slot);
    }
    delta_maker_.reset();
    steps_ = 0;
  }

  void MakeSlots() {
    for (int i = 0; i < std::max(1, device().info().depth); ++i) {
      slots_.push_back(std::make_unique<Slot>(memory(), device()));
    }
  }

  // Slots are used in turn, and merged in the same order.
  void Train(const Task& task, RowRange rows) override {
    Slot& slot = *slots_[static_cast<std::size_t>(trained_) % slots_.size()];
    slot.in_parts = false;
    try {
      Queue(slot, task, AllOf(task, rows));
    } catch (const OutOfDeviceMemory&) {
      ReleaseRows(slot);
      if (task.hold) {
        QueueInMoreSteps(slot, task, rows);
      } else {
        slot.in_parts = true;
      }
    }
    ++trained_;
  }

  void Merge(const Task& task, RowRange rows) override {
    Slot& slot = *slots_[static_cast<std::size_t>(merged_++) % slots_.size()];
    if (!task.hold) return slot.in_parts ? TrainInParts(slot, task, rows) : MergeSlot(slot);
    slot.replica.AwaitGradient();
    AddLosses(slot.replica.losses());
    Hold(task, rows, slot.replica.DeltaOnHost());
  }

  // Rows on their way to one merge.
  struct Trip {
    RowRange rows;
    std::int32_t steps = 1;  // updates of the replica
    float rate = 0;          // of each
  };

  Trip AllOf(const Task& task, RowRange rows) const {
    const auto most = static_cast<std::int32_t>(rows.size());
    return {.rows = rows,
            .steps = task.hold ? std::min(held_steps_, most) : task.updates_per_merge,
            .rate = task.learning_rate};
  }

  // Memory is exhausted: a gradient for the common step is added up from smaller batches, now and
  // from now on. All rows are still there at once; it is what is computed of them that takes less.
  void QueueInMoreSteps(Slot& slot, const Task& task, RowRange rows) {
    for (bool is_queued = false; !is_queued;) {
      held_steps_ *= 2;
      try {
        Queue(slot, task, AllOf(task, rows));
        is_queued = true;
      } catch (const OutOfDeviceMemory&) {
        if (held_steps_ >= rows.size()) throw;
        ReleaseRows(slot);
      }
    }
  }

  void Queue(Slot& slot, const Task& task, const Trip& trip) {
    const std::int64_t most = (trip.rows.size() + trip.steps - 1) / trip.steps;
    Model& model = ModelFor(most, most);
    DeltaMaker* maker = task.hold ? nullptr : &delta_maker();
    slot.replica.Load(trip.rows);
    slot.read = staleness().Read();
    slot.replica.Refresh(Earlier(slot));
    for (std::int32_t step = 0; step < trip.steps; ++step) {
      QueueStep(slot.replica, model, maker, trip, step);
    }
  }

  // An update of the replica, which joins Δ; as the last one's layers are made, all that was learnt
  // in them sets out. Without a maker: a part of a gradient, which travels in the place of Δ.
  void QueueStep(Replica& replica, Model& model, DeltaMaker* maker, const Trip& trip,
                 std::int32_t step) {
    using Order = DeltaMaker::Order;
    const Order order = step == 0 ? Order::kFirst : Order::kFurther;
    const bool is_last = step + 1 == trip.steps;
    const RowRange rows = Part({0, trip.rows.size()}, step, trip.steps);
    const BatchInput input = replica.input(rows);
    model.Forward(input, replica.weights());
    replica.KeepLosses(model.ComputeLoss(replica.targets(rows), class_weights_), rows.begin);
    if (is_last) replica.SendLosses();
    const auto targets = maker
                             ? maker->Targets(trip.rate, replica.touched(), replica.delta(), order)
                             : HeldTargets(replica, order, rows.size(), trip.rows.size());
    ++steps_;
    model.Backward(input, input, replica.weights(), targets, [&](std::size_t layer) {
      if (!maker) {
        if (is_last) replica.SendGradient(layer);
        return;
      }
      const LayerView& weights = replica.weights()[layer];
      const LayerView& delta = replica.delta()[layer];
      maker->Make(layer, trip.rate, steps_, weights, delta);
      if (is_last && memory().merge == Merge::kDelta) return replica.SendLayer(layer);
      if (trip.steps > 1) {
        model.AddGradient(layer, input, maker->OnReplica(trip.rate, weights));
      } else {
        device().AddScaled(delta.weights, 1, 1, weights.weights);
        device().AddScaled(delta.bias, 1, 1, weights.bias);
      }
      if (is_last) replica.SendLayer(layer);
    });
  }

  // Early layers are merged while later ones are still coming.
  void MergeSlot(Slot& slot) {
    Replica& replica = slot.replica;
    replica.AwaitLosses();
    AddLosses(replica.losses());
    const std::size_t layers = memory().store.layout().layers.size();
    for (std::size_t i = layers; i-- > 0;) {
      replica.MergeLayer(i);
      set_torn(Torn::kYes);
    }
    set_torn(Torn::kNo);
    staleness().Merged(slot.read);
    std::array<float, Probes::kMost> added;
    const auto probes = std::span(added).first(memory().probes.places().size());
    replica.ReadProbes(probes);
    memory().probes.Meant(id(), probes);
  }

  // Memory is exhausted: what was to be one merge is made in smaller ones, each by its share of the
  // rate. Not before it is to be merged: one that waits while the next is computed has changed
  // nothing yet, so that its rows can go back if that one fails.
  void TrainInParts(Slot& slot, const Task& task, RowRange rows) {
    const float all_rates = task.learning_rate * static_cast<float>(task.updates_per_merge);
    std::int64_t part = (rows.size() + 1) / 2;
    std::int32_t updates = 0;
    for (RowRange left = rows; left.size() > 0;) {
      ReleaseRows(slot);
      const RowRange now{left.begin, std::min(left.end, left.begin + part)};
      const float share = static_cast<float>(now.size()) / static_cast<float>(rows.size());
      const auto steps = std::max(1, static_cast<std::int32_t>(std::lround(
                                         share * static_cast<float>(task.updates_per_merge))));
      try {
        Queue(slot, task,
              {.rows = now, .steps = steps, .rate = all_rates * share / static_cast<float>(steps)});
      } catch (const OutOfDeviceMemory&) {
        if (part == 1) throw;
        part = (part + 1) / 2;
        continue;
      }
      MergeSlot(slot);
      updates += steps;
      left.begin = now.end;
      if (left.size() > 0) set_torn(Torn::kYes);
    }
    CountExtraUpdates(updates - task.updates_per_merge);
    LimitRows(part);
  }

  void ReleaseRows(Slot& slot) {
    device().Wait();
    ReleaseModel();
    slot.replica.ReleaseRows();
  }

  // The other part that is under way, if there is one: what it has merged it says itself.
  const Replica* Earlier(const Slot& slot) const {
    for (const auto& other : slots_) {
      if (other.get() != &slot) return &other->replica;
    }
    return nullptr;
  }

  // A mean over all rows is made of means over some.
  std::span<const GradientTarget> HeldTargets(const Replica& replica, DeltaMaker::Order order,
                                              std::int64_t rows, std::int64_t all_rows) {
    held_targets_.clear();
    for (const LayerView& layer : replica.delta()) {
      held_targets_.push_back({.weights = layer.weights,
                               .bias = layer.bias,
                               .scale = static_cast<float>(rows) / static_cast<float>(all_rows),
                               .keep = order == DeltaMaker::Order::kFirst ? 0.0f : 1.0f});
    }
    return held_targets_;
  }

  // Made when first asked for: held gradients are stepped by SyncUpdate, with state of its own.
  DeltaMaker& delta_maker() {
    if (!delta_maker_) {
      delta_maker_.emplace(memory().model, memory().optimizer, memory().explicit_momentum,
                           device());
    }
    return *delta_maker_;
  }

  std::vector<std::unique_ptr<Slot>> slots_;
  Buffer class_weights_memory_;
  Tensor class_weights_;
  std::optional<DeltaMaker> delta_maker_;
  std::vector<GradientTarget> held_targets_;
  std::int64_t trained_ = 0;
  std::int64_t merged_ = 0;
  std::int64_t steps_ = 0;       // of the optimiser
  std::int32_t held_steps_ = 1;  // in which a gradient for a common step is made
};

}  // namespace

std::unique_ptr<Worker> MakeReplicaWorker(WorkerId id, std::unique_ptr<Device> device,
                                          JobMemory& memory) {
  return std::make_unique<ReplicaWorker>(id, std::move(device), memory);
}

}  // namespace hogbatch
