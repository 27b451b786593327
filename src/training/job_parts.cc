#include "training/job_parts.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "algorithms/algorithms.h"
#include "core/error.h"
#include "nn/lanes/lanes.h"
#include "training/checkpoint/json_state.h"

namespace hogbatch {

namespace {

std::vector<LaneSetup> LanesOf(const TrainingPlan& plan) {
  std::vector<LaneSetup> lanes;
  for (const LanePlan& lane : plan.lanes) {
    lanes.push_back(
        {.rates = LearningRate(lane.learning_rate, plan.rules.epochs), .rules = lane.rules});
  }
  return lanes;
}

// The best of each lane, as a network of its own.
std::vector<TrainedLane> FinishLanes(const RunResult& run, const ModelSpec& model,
                                     const Schema& schema, std::span<const float> best) {
  std::vector<TrainedLane> lanes;
  for (std::size_t i = 0; i < run.lanes.size(); ++i) {
    TrainedLane& lane = lanes.emplace_back(TrainedLane{.model = {}, .run = run.lanes[i]});
    // If the last worker failed, the latest best of a lane may not have been kept.
    if (!lane.run.saved || run.stopped_because == StopReason::kNoWorkers) continue;
    std::vector<float> parameters = LaneOf(model, best, static_cast<std::int64_t>(i));
    if (!AllWithin(parameters, std::numeric_limits<float>::max())) continue;
    lane.model =
        SavedModel{.spec = Alone(model), .schema = schema, .parameters = std::move(parameters)};
  }
  return lanes;
}

}  // namespace

JobSetup MakeJobSetup(const TrainingPlan& plan, const TrainingInput& input) {
  const TrainingData& training = input.training;
  return {.job = {.model = plan.work.model,
                  .train_rows = training.train_rows,
                  .synchronous = FindAlgorithm(plan.algorithm).traits.synchronous},
          .rows = {.train = training.train_rows,
                   .valid = training.data.rows - training.train_rows,
                   .test = input.test ? input.test->rows : 0,
                   .evaluated_train = plan.evaluated_train_rows},
          .rules = plan.rules,
          .rates = LearningRate(plan.learning_rate, plan.rules.epochs),
          .algorithm = MakeAlgorithm(plan.algorithm, plan.batches),
          .max_batch_size = IndexedVector<WorkerId, std::int64_t>(plan.max_batch_sizes),
          .merge_rows = plan.work.merge_rows,
          .seed = plan.order_seed.value_or(plan.seed),
          .lanes = LanesOf(plan)};
}

void CheckSameNetwork(const Checkpoint& checkpoint, const TrainingPlan& plan) {
  if (std::ssize(checkpoint.weights) == Layout(plan.work.model).floats) return;
  throw UserError("the checkpoint is of another network; give the options it was trained with");
}

std::int64_t TrainedRows(const Checkpoint& checkpoint, std::string_view source) {
  std::int64_t examples = 0;
  StateFromJson(checkpoint.texts.control, std::string(source), [&](StateVisitor& visitor) {
    visitor.Begin("job");
    Visit(visitor, "examples", examples);
    visitor.End();
  });
  return examples;
}

void RestoreJob(const Checkpoint& checkpoint, JobRun& job, std::span<const DeviceInfo> devices,
                JobMemory& memory) {
  memory.SetWeights(checkpoint.weights);
  std::vector<std::string> workers;
  StateFromJson(checkpoint.texts.control, "the checkpoint",
                [&](StateVisitor& visitor) { job.VisitState(visitor); });
  StateFromJson(checkpoint.texts.control, "the checkpoint",
                [&](StateVisitor& visitor) { Visit(visitor, "worker_names", workers); });
  if (const std::optional<SnapshotId> best = job.saved_snapshot()) {
    RequireState(checkpoint.best.size() == checkpoint.weights.size(), "best");
    memory.MakeSnapshots();
    std::ranges::copy(checkpoint.best, memory.snapshots[*best].data());
  }
  if (!std::ranges::equal(workers, devices, {}, {}, &DeviceInfo::name)) return;
  RequireState(checkpoint.workers.size() == workers.size(), "workers");
  memory.saved_workers = IndexedVector<WorkerId, std::optional<SavedWorker>>(checkpoint.workers);
  if (!memory.is_exclusive) return;
  for (std::optional<SavedWorker>& saved : memory.saved_workers) {
    if (saved) memory.moved = std::exchange(saved, std::nullopt);
  }
}

TrainedModel FinishJob(const JobRun& job, const TrainingPlan& plan, const TrainingInput& input,
                       const JobMemory& memory) {
  TrainedModel trained{.model = {}, .run = job.Result()};
  if (!job.has_begun()) return trained;
  if (!plan.lanes.empty()) {
    const std::optional<SnapshotId> best = job.saved_snapshot();
    trained.lanes = FinishLanes(trained.run, plan.work.model, input.training.schema,
                                best ? memory.snapshots[*best].span() : std::span<float>());
    return trained;
  }
  std::vector<float> parameters = ChooseParameters(memory, job.saved_snapshot(), trained.run);
  if (!parameters.empty()) {
    trained.model = SavedModel{.spec = plan.work.model,
                               .schema = input.training.schema,
                               .parameters = std::move(parameters)};
  }
  return trained;
}

}  // namespace hogbatch
