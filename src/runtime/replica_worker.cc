#include "runtime/replica_worker.h"

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "nn/model.h"
#include "runtime/batch.h"
#include "runtime/batch_copy.h"
#include "runtime/common_step.h"
#include "runtime/delta_maker.h"
#include "runtime/mirrored_layers.h"
#include "runtime/snapshot_evaluator.h"

namespace hogbatch {
namespace {

class ReplicaWorker : public Worker {
 public:
  ReplicaWorker(WorkerId id, std::unique_ptr<Device> device, JobMemory& memory)
      : id_(id),
        device_(std::move(device)),
        memory_(memory),
        evaluator_(*device_, memory),
        common_step_(*device_, memory),
        batch_(*device_),
        replica_(memory.model, *device_),
        delta_(memory.model, *device_),
        class_weights_memory_(*device_, memory.class_weights.size() * sizeof(float)) {
    if (memory.model.sparse_input) compactor_.emplace(memory.model.inputs);
    if (memory.class_weights.empty()) return;
    class_weights_ = Tensor::Vector(class_weights_memory_.span<float>());
    device_->Upload(std::as_bytes(std::span(memory.class_weights)), class_weights_.data.base, 0);
  }

  void Compute(const Task& task, int update) override {
    switch (task.kind) {
      case TaskKind::kTrain:
        return Train(task, Part(task.rows, update, task.updates));
      case TaskKind::kApply:
        return;
      case TaskKind::kSnapshot:
        return memory_.TakeSnapshot(task.snapshot);
      case TaskKind::kEvaluate:
        evaluation_ += evaluator_.Evaluate(task);
    }
  }

  void Commit(const Task& task, int update) override {
    if (task.kind == TaskKind::kApply) common_step_.Apply(task);
    if (task.kind != TaskKind::kTrain) return;
    device_->Wait();
    for (const float loss : row_losses_) loss_sum_ += loss;
    if (task.hold) {
      memory_.held[static_cast<std::size_t>(id_)] = {
          .step = task.step,
          .rows = Part(task.rows, update, task.updates).size(),
          .layers = delta_.OnHost()};
    } else {
      delta_.AddTo(memory_.store);
    }
  }

  Report Finish(const Task& task) override {
    return {.task = task.id,
            .worker = id_,
            .loss_sum = std::exchange(loss_sum_, 0),
            .evaluation = std::exchange(evaluation_, {})};
  }

 private:
  void Train(const Task& task, RowRange rows) {
    ++updates_;
    Model& model = ModelFor(rows.size());
    const BatchInput input = batch_.Upload(compactor_ ? compactor_->Compact(memory_.data, rows)
                                                      : ViewInput(memory_.data, rows));
    const Targets targets = batch_.Upload(ViewTargets(memory_.data, rows));
    replica_.Fit(touched());
    delta_.Fit(touched());
    replica_.Upload(memory_.store);

    model.Forward(input, replica_.on_device());
    const Tensor losses = model.ComputeLoss(targets, class_weights_);
    if (task.hold) {
      model.Backward(input, input, replica_.on_device(), HeldTargets());
    } else {
      DeltaMaker& maker = delta_maker();
      model.Backward(input, input, replica_.on_device(),
                     maker.Targets(task.rate, touched(), delta_.on_device()));
      maker.Make(task.rate, updates_, replica_.on_device(), delta_.on_device());
    }

    delta_.Download();
    row_losses_.resize(static_cast<std::size_t>(losses.cols));
    device_->Download(losses.data.base,
                      static_cast<std::size_t>(losses.data.offset) * sizeof(float),
                      std::as_writable_bytes(std::span(row_losses_)));
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
      delta_maker_.emplace(memory_.model, memory_.optimizer, memory_.explicit_momentum, *device_);
    }
    return *delta_maker_;
  }

  // Scratch for the largest batch so far.
  Model& ModelFor(std::int64_t rows) {
    if (!model_ || model_->max_rows() < rows) {
      model_.reset();
      model_.emplace(memory_.model, *device_, rows, Use::kTraining);
    }
    return *model_;
  }

  WorkerId id_;
  std::unique_ptr<Device> device_;
  JobMemory& memory_;
  SnapshotEvaluator evaluator_;
  CommonStep common_step_;
  BatchCopy batch_;
  MirroredLayers replica_;
  MirroredLayers delta_;
  Buffer class_weights_memory_;
  Tensor class_weights_;
  std::optional<ColumnCompactor> compactor_;
  std::optional<DeltaMaker> delta_maker_;
  std::optional<Model> model_;
  std::vector<GradientTarget> held_targets_;
  std::vector<float> row_losses_;
  std::int64_t updates_ = 0;
  double loss_sum_ = 0;
  EvaluationSums evaluation_;
};

}  // namespace

std::unique_ptr<Worker> MakeReplicaWorker(WorkerId id, std::unique_ptr<Device> device,
                                          JobMemory& memory) {
  return std::make_unique<ReplicaWorker>(id, std::move(device), memory);
}

}  // namespace hogbatch
