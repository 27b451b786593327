#include "runtime/workers/lane_worker.h"

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/error.h"
#include "nn/lanes/lane_optimizer.h"
#include "nn/lanes/lane_state.h"
#include "nn/lanes/lanes.h"
#include "runtime/batches/batch.h"
#include "runtime/workers/device_worker.h"
#include "runtime/workers/lane_replica.h"
#include "runtime/workers/private_gradient.h"

namespace hogbatch {
namespace {

// The job belongs to this worker alone, so a device that shares host memory trains in the store,
// and any other keeps the weights and brings them back with each merge.
class LaneWorker : public DeviceWorker {
 public:
  LaneWorker(WorkerId id, std::shared_ptr<Device> owned, JobMemory& memory)
      : DeviceWorker(id, std::move(owned), memory), has_stopped_(memory.lanes.size()) {
    if (!device().info().shares_host_memory) replica_.emplace(memory, device());
    class_weights_ = replica_ ? replica_->class_weights() : ClassWeights();
  }

 private:
  // A device compiles what it needs at its first update. One with learning rates of 0 changes no
  // weight.
  void Prepare() override {
    if (!replica_) return;
    Task task;
    task.lane_rates.assign(memory().lanes.size(), 0.0f);
    rates_.assign(memory().lanes.size(), 0.0f);
    try {
      replica_->Load({0, 1});
      Update(task, replica_->input({0, 1}), replica_->targets({0, 1}), {});
    } catch (const OutOfDeviceMemory&) {  // the first task says so
    }
    device().Wait();
    for (LaneReport& lane : lane_reports()) lane = {};
    ForgetOptimizer();
  }

  void Train(const Task& task, RowRange rows) override {
    ClearStopped(task);
    if (replica_) replica_->Load(rows);
    set_merged(replica_ ? Merged::kWhole : Merged::kTorn);
    for (std::int32_t update = 0; update < task.updates_per_merge; ++update) {
      const RowRange part = Part({0, rows.size()}, update, task.updates_per_merge);
      if (replica_) {
        Update(task, replica_->input(part), replica_->targets(part), {});
      } else {
        const RowRange now{rows.begin + part.begin, rows.begin + part.end};
        Update(task, ViewInput(memory().data, now), ViewTargets(memory().data, now), now);
      }
    }
    if (replica_) replica_->Keep();
    set_merged(Merged::kWhole);
  }

  void Merge(const Task&, RowRange) override {
    const StalenessMeter::ReadAt read = staleness().Read();
    set_merged(Merged::kTorn);
    if (replica_) replica_->WriteToStore();
    set_merged(Merged::kWhole);
    staleness().Merged(read);
  }

  // `rows` of the data set, where they are read in place.
  void Update(const Task& task, const BatchInput& input, const Targets& targets, RowRange rows) {
    Model& model = ModelFor(input.rows(), input.rows() + input.rows() / 2 + 1);
    LaneOptimizer& lanes = optimizer();
    lanes.Begin(rates_, ++optimizer_updates_);
    model.Forward(input, weights());
    const Tensor losses = model.ComputeLoss(
        targets, class_weights_, lanes.direct() ? lanes.lane_factors() : DeviceSpan<const float>());
    if (lanes.direct()) {
      model.Backward(input, input, weights(), DirectTargets());
    } else {
      Step(model, input, rows);
    }
    AddLaneLosses(task, losses);
  }

  // Gradients were multiplied by the learning rates where they start.
  std::span<const GradientTarget> DirectTargets() {
    if (direct_targets_.empty()) {
      for (const LayerView& view : weights()) {
        direct_targets_.push_back(
            {.weights = view.weights, .bias = view.bias, .scale = -1, .keep = 1});
      }
    }
    return direct_targets_;
  }

  void Step(Model& model, const BatchInput& input, RowRange rows) {
    if (!gradient_) gradient_.emplace(memory().model, device());
    if (replica_) {
      const BatchInput first = replica_->Compacted(input);
      model.Backward(input, first, weights(),
                     gradient_->Targets(replica_->touched(), replica_->touched_on_device()));
    } else {
      if (input.is_sparse && !compactor_) compactor_.emplace(memory().model.inputs);
      const BatchInput first = input.is_sparse ? compactor_->Compact(memory().data, rows) : input;
      const auto touched =
          input.is_sparse ? std::span(compactor_->touched()) : std::span<const std::int32_t>();
      model.Backward(input, first, weights(), gradient_->Targets(touched, HostSpan(touched)));
    }
    for (std::size_t i = 0; i < gradient_->layers().size(); ++i) {
      optimizer().StepLayer(static_cast<int>(i), gradient_->layers()[i], weights()[i]);
    }
  }

  // Waits for the update.
  void AddLaneLosses(const Task& task, const Tensor& losses) {
    losses_.resize(losses.data.size);
    device().Download(losses.data.base, losses.data.offset_bytes(),
                      std::as_writable_bytes(std::span(losses_)));
    device().Wait();
    std::vector<LaneReport>& lanes = lane_reports();
    const std::size_t stride = lanes.size() == 1 ? 1 : losses.stride;
    double sum = 0;
    std::size_t running = 0;
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      if (!task.lane_rates[lane]) continue;
      double lane_sum = 0;
      for (std::size_t at = lane; at < losses_.size(); at += stride) lane_sum += losses_[at];
      lanes[lane].loss_sum += lane_sum;
      if (!std::isfinite(lane_sum)) continue;
      sum += lane_sum;
      ++running;
    }
    if (running > 0) AddLoss(sum / static_cast<double>(running));
  }

  // A lane that has stopped gets learning rate 0, and no number that is not finite stays in it.
  void ClearStopped(const Task& task) {
    Check(task.lane_rates.size() == has_stopped_.size(), "every lane has a learning rate, or none");
    rates_.clear();
    for (std::size_t i = 0; i < has_stopped_.size(); ++i) {
      rates_.push_back(task.lane_rates[i].value_or(0.0f));
      if (task.lane_rates[i] || has_stopped_[i]) continue;
      has_stopped_[i] = true;
      Clear(static_cast<std::int64_t>(i));
    }
  }

  void Clear(std::int64_t lane) {
    device().Wait();
    if (replica_) {
      replica_->ClearLane(lane);
    } else {
      ClearLane(memory().model, lane, memory().store.idle_weights());
    }
    OptimizerState state = optimizer().Save();
    SetLane(memory().model, lane, OptimizerState{}, state);
    optimizer().Load(state);
  }

  std::span<const LayerView> weights() const {
    return replica_ ? replica_->weights() : memory().store.views();
  }

  Tensor ClassWeights() const {
    if (memory().class_weights.empty()) return {};
    const auto lanes = static_cast<std::int64_t>(memory().lanes.size());
    return Tensor::Matrix(HostSpan(std::span(memory().class_weights)), lanes,
                          memory().model.outputs);
  }

  // Made at its first use.
  LaneOptimizer& optimizer() {
    if (!optimizer_) {
      optimizer_ = MakeLaneOptimizer(memory().lanes, memory().model, device());
      if (saved()) optimizer_updates_ = saved()->updates;
      if (saved() && saved()->optimizer) optimizer_->Load(*saved()->optimizer);
    }
    return *optimizer_;
  }
  void SaveOptimizer(SavedWorker& saved) override {
    if (!optimizer_) return;
    saved.updates = optimizer_updates_;
    saved.optimizer = optimizer_->Save();
  }
  void ForgetOptimizer() override {
    optimizer_.reset();
    optimizer_updates_ = 0;
  }

  // not state: replica_ holds the model, which is saved; class_weights_, rates_, gradient_,
  // compactor_, direct_targets_, losses_; lanes in has_stopped_ are cleared once more.
  std::optional<LaneReplica> replica_;  // none: the device shares host memory
  Tensor class_weights_;
  std::unique_ptr<LaneOptimizer> optimizer_;
  std::int64_t optimizer_updates_ = 0;
  std::vector<bool> has_stopped_;  // by lane, and its numbers are cleared
  std::vector<float> rates_;       // of the present task, by lane
  std::optional<PrivateGradient> gradient_;
  std::optional<ColumnCompactor> compactor_;
  std::vector<GradientTarget> direct_targets_;
  std::vector<float> losses_;
};

}  // namespace

std::unique_ptr<Worker> MakeLaneWorker(WorkerId id, std::shared_ptr<Device> device,
                                       JobMemory& memory) {
  return std::make_unique<LaneWorker>(id, std::move(device), memory);
}

}  // namespace hogbatch
