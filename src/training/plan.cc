#include "training/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/text.h"
#include "datasets/encoding/class_weights.h"
#include "runtime/control/teams.h"
#include "training/calibration/gpu_calibration.h"
#include "training/memory_check.h"
#include "training/network.h"
#include "training/train.h"

namespace hogbatch {
namespace {

RunRules ChooseRules(const TrainingSpec& spec, const TrialPlacement& placement) {
  RunRules rules{.epochs = spec.epochs,
                 .target_loss = {},
                 .patience = spec.patience,
                 .pause_epoch = placement.pause_epoch,
                 .most_rollbacks = placement.most_rollbacks,
                 .eval_every = spec.eval_every,
                 .report_every = spec.report_every};
  if (!spec.max_time.empty()) rules.max_seconds = ParseDuration("--max-time", spec.max_time);
  if (spec.target_loss > 0) rules.target_loss = spec.target_loss;
  return rules;
}

AlgorithmOptions ChooseBatches(const TrainingSpec& spec, const AlgorithmInfo& algorithm,
                               const GpuBatch& gpu_batch) {
  return {.cpu_batch = ParseBatchRange("--cpu-batch", spec.batch.cpu_batch),
          .gpu_batch = gpu_batch.range,
          .own = spec.algorithm_options.of(algorithm)};
}

Workload ChooseWork(const TrainingSpec& spec, const ModelSpec& model, const Devices& devices,
                    const AlgorithmTraits& traits, const AlgorithmOptions& batches,
                    const GpuBatch& gpu_batch) {
  const int workers = CountWorkers(devices.chosen).all();
  const int asynchronous = AsynchronousWorkers(traits, workers);
  const double momentum = spec.optimizer.no_momentum_correction
                              ? spec.optimizer.momentum
                              : ExplicitMomentum(spec.optimizer.momentum, asynchronous);
  // Optimisers with state merge after every update.
  const bool direct = IsDirect(spec.optimizer, momentum, model.sparse_input ? model.inputs : 0);
  return {
      .model = model,
      .optimizer = spec.optimizer,
      .explicit_momentum = momentum,
      .synchronous = asynchronous < workers,
      .merge_rows = direct ? spec.merge_rows : 1,
      .gpu_batch = {.min = gpu_batch.calibrate_min ? 1 : gpu_batch.range.min,
                    .max = traits.adapts_batch_size ? gpu_batch.range.max
                                                    : FixedBatchSize(batches, DeviceKind::kCuda)},
      .devices = devices.chosen,
      .host_memory_bytes = devices.host_memory_bytes};
}

TrainingPlan Calibrated(TrainingPlan plan, GpuCalibrations found) {
  plan.batches.gpu_batch.min = found.smallest_batch;
  plan.calibrated = std::move(found.gpus);
  return plan;
}

}  // namespace

TrainingPlan FuseLanes(std::span<const TrainingPlan> plans, const TrainingInput& input) {
  TrainingPlan fused = plans.front();
  fused.work.model.lanes = std::ssize(plans);
  for (const TrainingPlan& plan : plans) {
    fused.lanes.push_back({.learning_rate = plan.learning_rate,
                           .optimizer = plan.work.optimizer,
                           .class_weights = plan.class_weights,
                           .init = plan.init,
                           .rules = plan.rules,
                           .seed = plan.seed});
    // Memory is that of the lane that needs most.
    Workload& work = fused.work;
    work.merge_rows = std::min(work.merge_rows, plan.work.merge_rows);
    work.explicit_momentum = std::max(work.explicit_momentum, plan.work.explicit_momentum);
    work.optimizer.weight_decay =
        std::max(work.optimizer.weight_decay, plan.work.optimizer.weight_decay);
  }
  fused.class_weights.clear();
  fused.max_batch_sizes = CheckTrainingFits(fused.work, input.training.data);
  return fused;
}

WorkerCounts CountWorkers(const std::vector<DeviceChoice>& devices) {
  WorkerCounts workers;
  for (const DeviceChoice& choice : devices) {
    ++(choice.info.kind == DeviceKind::kCpu ? workers.cpu : workers.gpu);
  }
  return workers;
}

bool TrainingPlan::adapts() const {
  return FindAlgorithm(algorithm).traits.adapts_batch_size &&
         MakeTeams(InfosOf(work.devices)).names.size() > 1;
}

TrainingPlan Plan(const TrainingSpec& spec, const TrainingInput& input, const Devices& devices,
                  TrainingObserver& observer, const TrialPlacement& placement) {
  const TrainingData& training = input.training;
  const ModelSpec model = ChooseModel(spec, input);
  const GpuBatch gpu_batch = ParseGpuBatch("--gpu-batch", spec.batch.gpu_batch);
  const AlgorithmInfo& algorithm = ChooseAlgorithm(spec.algorithm, InfosOf(devices.chosen));
  const AlgorithmOptions batches = ChooseBatches(spec, algorithm, gpu_batch);
  const Workload work = ChooseWork(spec, model, devices, algorithm.traits, batches, gpu_batch);
  const OptimizerKind optimizer = spec.optimizer.kind();
  TrainingPlan plan{.work = work,
                    .algorithm = std::string(algorithm.name),
                    .batches = batches,
                    .max_batch_sizes = CheckTrainingFits(work, training.data),
                    .merge = ParseMerge(spec.merge),
                    .learning_rate = spec.learning_rate.ChosenFor(model.loss, optimizer),
                    .class_weights = ParseClassWeights(spec.class_weights, training.schema,
                                                       training.data, training.train_rows),
                    .init = ChooseInit(spec, model),
                    .rules = ChooseRules(spec, placement),
                    .evaluated_train_rows = EvaluatedRows(spec.eval_rows, training.train_rows,
                                                          training.data.rows - training.train_rows),
                    .pinning = spec.no_pin ? Pinning::kNone : Pinning::kCores,
                    .seed = static_cast<std::uint64_t>(spec.seed),
                    .order_seed = placement.order_seed};
  if (!gpu_batch.calibrate_min || !plan.adapts()) return plan;
  return Calibrated(plan, CalibrateGpus({.work = plan.work,
                                         .data = training,
                                         .gpu_batch = plan.batches.gpu_batch,
                                         .max_batch_sizes = plan.max_batch_sizes,
                                         .make_memory = [&] { return MakeMemory(plan, input); }},
                                        spec.min_utilization, observer));
}

TrainingSpec UsedSpec(const TrainingSpec& spec, const TrainingPlan& plan) {
  TrainingSpec used = spec;
  used.algorithm = plan.algorithm;
  used.learning_rate = plan.learning_rate;
  return used;
}

}  // namespace hogbatch
