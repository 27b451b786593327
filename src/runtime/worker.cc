#include "runtime/worker.h"

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "nn/model.h"
#include "runtime/batch.h"
#include "runtime/common_step.h"
#include "runtime/private_gradient.h"
#include "runtime/replica_worker.h"
#include "runtime/snapshot_evaluator.h"

namespace hogbatch {
namespace {

// A worker on a device that shares host memory: it trains in the store itself.
class SharingWorker : public Worker {
 public:
  SharingWorker(WorkerId id, std::unique_ptr<Device> device, JobMemory& memory)
      : id_(id),
        device_(std::move(device)),
        memory_(memory),
        evaluator_(*device_, memory),
        common_step_(*device_, memory) {
    class_weights_ = Tensor::Vector(HostSpan(
        memory.class_weights.data(), static_cast<std::int64_t>(memory.class_weights.size())));
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

  void Commit(const Task& task, int) override {
    if (task.kind == TaskKind::kApply) common_step_.Apply(task);
    if (task.kind != TaskKind::kTrain || task.hold || WritesDirectly(task)) return;
    for (std::size_t layer = 0; layer < gradient_->layers().size(); ++layer) {
      optimizer().Step(static_cast<int>(layer), gradient_->layers()[layer], task.rate, updates_,
                       memory_.store.views()[layer]);
    }
    device_->Wait();
  }

  Report Finish(const Task& task) override {
    return {.task = task.id,
            .worker = id_,
            .loss_sum = std::exchange(loss_sum_, 0),
            .evaluation = std::exchange(evaluation_, {})};
  }

 private:
  // In virtual time an update is read at its start and written at its end, so it cannot be written
  // on the way. Decay that keeps nothing would read as "clear the target".
  bool WritesDirectly(const Task& task) {
    return !task.hold && !device_->info().cost && optimizer().direct() && KeptBy(task.rate) > 0;
  }

  // Made when first asked for: held gradients are stepped by CommonStep, with state of its own.
  Optimizer& optimizer() {
    if (!optimizer_) {
      optimizer_ =
          MakeOptimizer(memory_.optimizer, memory_.explicit_momentum, memory_.model, *device_);
    }
    return *optimizer_;
  }

  void Train(const Task& task, RowRange rows) {
    ++updates_;
    Model& model = ModelFor(rows.size());
    const BatchInput input = ViewInput(memory_.data, rows);
    model.Forward(input, memory_.store.views());
    const Tensor losses = model.ComputeLoss(ViewTargets(memory_.data, rows), class_weights_);
    if (WritesDirectly(task)) {
      model.Backward(input, input, memory_.store.views(), DirectTargets(task.rate));
    } else {
      MakeGradient(model, input, rows);
    }
    AddLosses(losses);
    // Only now: a gradient whose task fails must not be found by the common step.
    if (task.hold) {
      memory_.held[static_cast<std::size_t>(id_)] = {
          .step = task.step, .rows = rows.size(), .layers = gradient_->layers()};
    }
  }

  float KeptBy(float rate) const { return Keep(memory_.optimizer.weight_decay, rate); }

  // Straight into the shared weights, layer by layer.
  std::span<const GradientTarget> DirectTargets(float rate) {
    const float keep = KeptBy(rate);
    direct_targets_.clear();
    for (const LayerView& view : memory_.store.views()) {
      direct_targets_.push_back(
          {.weights = view.weights, .bias = view.bias, .scale = -rate, .keep = keep});
    }
    return direct_targets_;
  }

  void MakeGradient(Model& model, const BatchInput& input, RowRange rows) {
    if (!gradient_) gradient_.emplace(memory_.model, *device_);
    if (input.is_sparse && !compactor_) compactor_.emplace(memory_.model.inputs);
    const BatchInput first = input.is_sparse ? compactor_->Compact(memory_.data, rows) : input;
    const auto touched =
        input.is_sparse ? std::span(compactor_->touched()) : std::span<const std::int32_t>();
    model.Backward(
        input, first, memory_.store.views(),
        gradient_->Targets(touched,
                           HostSpan(touched.data(), static_cast<std::int64_t>(touched.size()))));
  }

  void AddLosses(const Tensor& losses) {
    row_losses_.resize(static_cast<std::size_t>(losses.cols));
    device_->Download(losses.data.base,
                      static_cast<std::size_t>(losses.data.offset) * sizeof(float),
                      std::as_writable_bytes(std::span(row_losses_)));
    device_->Wait();
    for (const float loss : row_losses_) loss_sum_ += loss;
  }

  // Scratch for batches of this size and the slightly larger ones that tails make.
  Model& ModelFor(std::int64_t rows) {
    if (!model_ || model_->max_rows() < rows) {
      model_.reset();
      model_.emplace(memory_.model, *device_, rows + rows / 2 + 1, Use::kTraining);
    }
    return *model_;
  }

  WorkerId id_;
  std::unique_ptr<Device> device_;
  JobMemory& memory_;
  std::unique_ptr<Optimizer> optimizer_;
  SnapshotEvaluator evaluator_;
  CommonStep common_step_;
  Tensor class_weights_;
  std::optional<Model> model_;
  std::optional<PrivateGradient> gradient_;
  std::optional<ColumnCompactor> compactor_;
  std::vector<GradientTarget> direct_targets_;
  std::vector<float> row_losses_;
  std::int64_t updates_ = 0;
  double loss_sum_ = 0;
  EvaluationSums evaluation_;
};

}  // namespace

std::unique_ptr<Worker> MakeWorker(WorkerId id, std::unique_ptr<Device> device, JobMemory& memory) {
  if (!device->info().shares_host_memory) return MakeReplicaWorker(id, std::move(device), memory);
  return std::make_unique<SharingWorker>(id, std::move(device), memory);
}

}  // namespace hogbatch
