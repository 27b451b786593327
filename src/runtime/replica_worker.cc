#include "runtime/replica_worker.h"

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/batch.h"
#include "runtime/batch_copy.h"
#include "runtime/delta_maker.h"
#include "runtime/device_worker.h"
#include "runtime/mirrored_layers.h"

namespace hogbatch {
namespace {

class ReplicaWorker : public DeviceWorker {
 public:
  ReplicaWorker(WorkerId id, std::unique_ptr<Device> owned, JobMemory& memory)
      : DeviceWorker(id, std::move(owned), memory),
        batch_(device()),
        replica_(memory.model, device()),
        delta_(memory.model, device()),
        class_weights_memory_(device(), memory.class_weights.size() * sizeof(float)) {
    if (memory.model.sparse_input) compactor_.emplace(memory.model.inputs);
    if (memory.class_weights.empty()) return;
    class_weights_ = Tensor::Vector(class_weights_memory_.span<float>());
    device().Upload(std::as_bytes(std::span(memory.class_weights)), class_weights_.data.base, 0);
  }

 private:
  void Merge(const Task& task, RowRange rows) override {
    device().Wait();
    AddLosses();
    if (task.hold) return Hold(task, rows, delta_.OnHost());
    delta_.AddTo(memory().store);
  }

  void Train(const Task& task, RowRange rows) override {
    Model& model = ModelFor(rows.size(), rows.size());
    const BatchInput input = batch_.Upload(compactor_ ? compactor_->Compact(memory().data, rows)
                                                      : ViewInput(memory().data, rows));
    const Targets targets = batch_.Upload(ViewTargets(memory().data, rows));
    replica_.Fit(touched());
    delta_.Fit(touched());
    replica_.Upload(memory().store);

    model.Forward(input, replica_.on_device());
    const Tensor losses = model.ComputeLoss(targets, class_weights_);
    if (task.hold) {
      model.Backward(input, input, replica_.on_device(), HeldTargets());
    } else {
      DeltaMaker& maker = delta_maker();
      model.Backward(input, input, replica_.on_device(),
                     maker.Targets(task.rate, touched(), delta_.on_device()));
      maker.Make(task.rate, updates(), replica_.on_device(), delta_.on_device());
    }

    delta_.Download();
    DownloadLosses(losses);
  }

  std::span<const std::int32_t> touched() const {
    return compactor_ ? std::span(compactor_->touched()) : std::span<const std::int32_t>();
  }

  // A held gradient travels in the place of Δ.
  std::span<const GradientTarget> HeldTargets() {
    held_targets_.clear();
    for (const LayerView& layer : delta_.on_device()) {
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

  BatchCopy batch_;
  MirroredLayers replica_;
  MirroredLayers delta_;
  Buffer class_weights_memory_;
  Tensor class_weights_;
  std::optional<ColumnCompactor> compactor_;
  std::optional<DeltaMaker> delta_maker_;
  std::vector<GradientTarget> held_targets_;
};

}  // namespace

std::unique_ptr<Worker> MakeReplicaWorker(WorkerId id, std::unique_ptr<Device> device,
                                          JobMemory& memory) {
  return std::make_unique<ReplicaWorker>(id, std::move(device), memory);
}

}  // namespace hogbatch
