#include "runtime/replica_worker.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/error.h"
#include "runtime/delta_maker.h"
#include "runtime/device_worker.h"
#include "runtime/replica.h"

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
  // An update between Train and Merge.
  struct Slot {
    Slot(JobMemory& memory, Device& device) : replica(memory, device) {}
    Replica replica;
    StalenessMeter::ReadAt read;
    bool in_parts = false;  // memory was too short for it: nothing is queued
  };

  // As the first update of one row, which is forgotten.
  void Prepare() override {
    try {
      Queue(*slots_.front(), {}, {0, 1}, 0);
    } catch (const OutOfDeviceMemory&) {  // updates find a way, or say so
    }
    ReleaseRows(*slots_.front());
    delta_maker_.reset();
    steps_ = 0;
    MakeSlots();
  }

  void MakeSlots() {
    slots_.clear();
    for (int i = 0; i < std::max(1, device().info().depth); ++i) {
      slots_.push_back(std::make_unique<Slot>(memory(), device()));
    }
  }

  // Slots are used in turn, and merged in the same order.
  void Train(const Task& task, RowRange rows) override {
    Slot& slot = *slots_[static_cast<std::size_t>(trained_) % slots_.size()];
    slot.in_parts = false;
    try {
      Queue(slot, task, rows, task.rate);
    } catch (const OutOfDeviceMemory&) {
      if (task.hold) throw;
      ReleaseRows(slot);
      slot.in_parts = true;
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

  void Queue(Slot& slot, const Task& task, RowRange rows, float rate) {
    Replica& replica = slot.replica;
    Model& model = ModelFor(rows.size(), rows.size());
    DeltaMaker* maker = task.hold ? nullptr : &delta_maker();
    replica.Load(rows);
    slot.read = staleness().Read();
    replica.Refresh(Earlier(slot));

    model.Forward(replica.input(), replica.weights());
    replica.SendLosses(model.ComputeLoss(replica.targets(), class_weights_));
    const auto targets =
        maker ? maker->Targets(rate, replica.touched(), replica.delta()) : HeldTargets(replica);
    ++steps_;
    model.Backward(
        replica.input(), replica.input(), replica.weights(), targets, [&](std::size_t layer) {
          if (!maker) return replica.SendGradient(layer);
          maker->Make(layer, rate, steps_, replica.weights()[layer], replica.delta()[layer]);
          replica.SendLayer(layer);
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

  // Memory is exhausted: the update is made in smaller ones, each by its share of the rate. Not
  // before it is to be merged: one that waits while the next is computed has changed nothing yet,
  // so that its rows can go back if that one fails.
  void TrainInParts(Slot& slot, const Task& task, RowRange rows) {
    std::int64_t part = (rows.size() + 1) / 2;
    for (RowRange left = rows; left.size() > 0;) {
      ReleaseRows(slot);
      const RowRange now{left.begin, std::min(left.end, left.begin + part)};
      try {
        Queue(slot, task, now,
              task.rate * static_cast<float>(now.size()) / static_cast<float>(rows.size()));
      } catch (const OutOfDeviceMemory&) {
        if (part == 1) throw;
        part = (part + 1) / 2;
        continue;
      }
      MergeSlot(slot);
      left.begin = now.end;
      if (left.size() == 0) break;
      set_torn(Torn::kYes);
      CountExtraUpdate();
    }
    LimitRows(part);
  }

  void ReleaseRows(Slot& slot) {
    device().Wait();
    ReleaseModel();
    slot.replica.ReleaseRows();
  }

  // The other update that is under way, if there is one: what it has merged it says itself.
  const Replica* Earlier(const Slot& slot) const {
    for (const auto& other : slots_) {
      if (other.get() != &slot) return &other->replica;
    }
    return nullptr;
  }

  // A held gradient travels in the place of Δ.
  std::span<const GradientTarget> HeldTargets(const Replica& replica) {
    held_targets_.clear();
    for (const LayerView& layer : replica.delta()) {
      held_targets_.push_back({.weights = layer.weights, .bias = layer.bias});
    }
    return held_targets_;
  }

  // Made when first asked for: held gradients are stepped by CommonStep, with state of its own.
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
  std::int64_t steps_ = 0;  // of the optimiser
};

}  // namespace

std::unique_ptr<Worker> MakeReplicaWorker(WorkerId id, std::unique_ptr<Device> device,
                                          JobMemory& memory) {
  return std::make_unique<ReplicaWorker>(id, std::move(device), memory);
}

}  // namespace hogbatch
