#include "runtime/worker.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "core/error.h"
#include "nn/metrics.h"
#include "nn/model.h"
#include "runtime/batch.h"
#include "runtime/common_step.h"
#include "runtime/private_gradient.h"

namespace hogbatch {
namespace {

// Rows that go through the network at once in an evaluation.
constexpr std::int64_t kEvaluationRows = 256;

class TrainingWorker : public Worker {
 public:
  TrainingWorker(WorkerId id, std::unique_ptr<Device> device, JobMemory& memory)
      : id_(id), device_(std::move(device)), memory_(memory), common_step_(*device_, memory) {
    Check(device_->info().shares_host_memory, "a worker on a device that needs a replica");
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
        return memory_.store.CopyTo(
            memory_.snapshots[static_cast<std::size_t>(task.snapshot)].span());
      case TaskKind::kEvaluate:
        return EvaluateRows(task);
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
    Report report{.task = task.id, .worker = id_, .loss_sum = loss_sum_, .evaluation = evaluation_};
    loss_sum_ = 0;
    evaluation_ = {};
    return report;
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
    model.Backward(input, first, memory_.store.views(), gradient_->Targets(touched));
  }

  void AddLosses(const Tensor& losses) {
    row_losses_.resize(static_cast<std::size_t>(losses.cols));
    device_->Download(losses.data.base,
                      static_cast<std::size_t>(losses.data.offset) * sizeof(float),
                      std::as_writable_bytes(std::span(row_losses_)));
    device_->Wait();
    for (const float loss : row_losses_) loss_sum_ += loss;
  }

  void EvaluateRows(const Task& task) {
    if (!evaluation_model_) {
      evaluation_model_.emplace(memory_.model, *device_, kEvaluationRows, Use::kInference);
    }
    const AlignedFloats& snapshot = memory_.snapshots[static_cast<std::size_t>(task.snapshot)];
    const std::vector<LayerView> layers =
        ViewLayers(memory_.store.layout(),
                   HostSpan(snapshot.data(), static_cast<std::int64_t>(snapshot.size())));
    const Dataset& data = memory_.RowsOf(task.split);
    for (std::int64_t row = task.rows.begin; row < task.rows.end; row += kEvaluationRows) {
      const RowRange rows{row, std::min(row + kEvaluationRows, task.rows.end)};
      const Tensor outputs = evaluation_model_->Forward(ViewInput(data, rows), layers);
      outputs_.resize(static_cast<std::size_t>(outputs.rows * outputs.cols));
      device_->Download(outputs.data.base,
                        static_cast<std::size_t>(outputs.data.offset) * sizeof(float),
                        std::as_writable_bytes(std::span(outputs_)));
      device_->Wait();
      evaluation_ += Evaluate(memory_.model.loss, outputs_, outputs.cols,
                              ViewHostTargets(data, rows), memory_.class_weights);
    }
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
  CommonStep common_step_;
  Tensor class_weights_;
  std::optional<Model> model_;
  std::optional<Model> evaluation_model_;
  std::optional<PrivateGradient> gradient_;
  std::optional<ColumnCompactor> compactor_;
  std::vector<GradientTarget> direct_targets_;
  std::vector<float> row_losses_;
  std::vector<float> outputs_;
  std::int64_t updates_ = 0;
  double loss_sum_ = 0;
  EvaluationSums evaluation_;
};

}  // namespace

std::unique_ptr<Worker> MakeWorker(WorkerId id, std::unique_ptr<Device> device, JobMemory& memory) {
  return std::make_unique<TrainingWorker>(id, std::move(device), memory);
}

}  // namespace hogbatch
