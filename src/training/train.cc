#include "training/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "algorithms/algorithms.h"
#include "core/error.h"
#include "runtime/control/teams.h"
#include "runtime/executors/executor.h"
#include "training/checkpoint/json_state.h"
#include "training/network.h"

namespace hogbatch {
namespace {

Coordinator::Setup MakeSetup(const TrainingPlan& plan, const TrainingInput& input) {
  const TrainingData& training = input.training;
  return {.job = {.model = plan.work.model, .train_rows = training.train_rows},
          .rows = {.train = training.train_rows,
                   .valid = training.data.rows - training.train_rows,
                   .test = input.test ? input.test->rows : 0,
                   .evaluated_train = plan.evaluated_train_rows},
          .rules = plan.rules,
          .rates = LearningRate(plan.learning_rate, plan.rules.epochs),
          .workers = InfosOf(plan.work.devices),
          .max_batch_size = plan.max_batch_sizes,
          .merge_rows = plan.work.merge_rows,
          .seed = plan.seed};
}

// Before memory is allocated: the options of a checkpoint may name any network.
void CheckSameNetwork(const Checkpoint& checkpoint, const TrainingPlan& plan) {
  const auto floats = static_cast<std::size_t>(Layout(plan.work.model).floats);
  if (checkpoint.weights.size() == floats) return;
  throw UserError("the checkpoint is of another network; give the options it was trained with");
}

// Tells the keeper of every new best model.
class BestWatcher final : public RunObserver {
 public:
  BestWatcher(const Coordinator& coordinator, RunKeeper& keeper, RunObserver& observer)
      : coordinator_(coordinator), keeper_(keeper), observer_(observer) {}

  void OnPreparation(std::string_view worker, double seconds) override {
    observer_.OnPreparation(worker, seconds);
  }
  void OnProgress(const Progress& progress) override {
    if (progress.best && progress.updates > 0) keeper_.SaveBest(*coordinator_.saved_snapshot());
    observer_.OnProgress(progress);
  }
  void OnWorkerFailed(std::string_view worker, std::string_view what) override {
    observer_.OnWorkerFailed(worker, what);
  }
  void OnWarning(std::string_view sentence) override { observer_.OnWarning(sentence); }

 private:
  const Coordinator& coordinator_;
  RunKeeper& keeper_;
  RunObserver& observer_;
};

}  // namespace

void CheckSameRows(const Checkpoint& checkpoint, const TrainingInput& input) {
  const std::string rows = Fingerprint(input);
  if (checkpoint.texts.data == rows) return;
  throw UserError(
      fmt::format("the data has changed since the checkpoint was written: it had {}, and has {}; "
                  "start a new run without --resume",
                  checkpoint.texts.data, rows));
}

std::unique_ptr<JobMemory> MakeMemory(const TrainingPlan& plan, const TrainingInput& input) {
  const Workload& work = plan.work;
  auto memory = std::make_unique<JobMemory>(work.model, input.training.data,
                                            input.test ? &*input.test : nullptr,
                                            static_cast<int>(work.devices.size()));
  memory->class_weights = plan.class_weights;
  memory->optimizer = work.optimizer;
  memory->explicit_momentum = work.explicit_momentum;
  memory->merge = plan.merge;
  memory->teams = static_cast<int>(MakeTeams(InfosOf(work.devices)).names.size());
  memory->SetWeights(StartingWeights(plan.work.model, plan.init, plan.seed, input));
  return memory;
}

TrainingRun::TrainingRun(const TrainingPlan& plan, const TrainingInput& input)
    : plan_(plan),
      input_(input),
      memory_(MakeMemory(plan, input)),
      algorithm_(MakeAlgorithm(plan.algorithm, plan.batches)),
      coordinator_(*algorithm_, MakeSetup(plan, input)) {}

std::vector<WorkerFactory> TrainingRun::Workers(Writes writes) {
  std::vector<WorkerFactory> factories;
  for (const DeviceChoice& choice : plan_.work.devices) {
    const auto id = static_cast<WorkerId>(factories.size());
    factories.push_back(
        [this, id, &choice, writes] { return MakeWorker(id, choice.make(), *memory_, writes); });
  }
  return factories;
}

void TrainingRun::Restore(const Checkpoint& checkpoint) {
  CheckSameNetwork(checkpoint, plan_);
  const std::size_t floats = checkpoint.weights.size();
  memory_->SetWeights(checkpoint.weights);
  std::vector<std::string> workers;
  StateFromJson(checkpoint.texts.control, "the checkpoint",
                [&](StateVisitor& visitor) { coordinator_.VisitState(visitor); });
  StateFromJson(checkpoint.texts.control, "the checkpoint",
                [&](StateVisitor& visitor) { Visit(visitor, "worker_names", workers); });
  if (const std::optional<SnapshotId> best = coordinator_.saved_snapshot()) {
    RequireState(checkpoint.best.size() == floats, "best");
    std::ranges::copy(checkpoint.best, memory_->snapshots[*best].data());
  }
  const auto same = std::ranges::equal(workers, plan_.work.devices, {}, {},
                                       [](const DeviceChoice& choice) { return choice.info.name; });
  if (!same) return;
  RequireState(checkpoint.workers.size() == workers.size(), "workers");
  memory_->saved_workers = IndexedVector<WorkerId, std::optional<SavedWorker>>(checkpoint.workers);
}

TrainedModel TrainingRun::Finish() const {
  TrainedModel trained{.model = {}, .run = coordinator_.Result()};
  std::vector<float> parameters =
      ChooseParameters(*memory_, coordinator_.saved_snapshot(), trained.run);
  if (!parameters.empty()) {
    trained.model = SavedModel{.spec = plan_.work.model,
                               .schema = input_.training.schema,
                               .parameters = std::move(parameters)};
  }
  return trained;
}

TrainedModel Train(const TrainingPlan& plan, const TrainingInput& input, TrainingObserver& observer,
                   const TrainControls& controls) {
  if (controls.resume) CheckSameNetwork(*controls.resume, plan);
  auto run = std::make_unique<TrainingRun>(plan, input);
  if (controls.resume) run->Restore(*controls.resume);
  std::unique_ptr<Executor> executor =
      MakeThreadExecutor(run->Workers(), plan.pinning, controls.stop_requested, controls.trace);
  if (controls.keep) {
    RunKeeper keeper(*controls.keep, plan, input, run->memory(), observer);
    BestWatcher watcher(run->coordinator(), keeper, observer);
    executor->Run(run->coordinator(), watcher, &keeper);
    keeper.AwaitTaken();
  } else {
    executor->Run(run->coordinator(), observer);
  }
  TrainedModel trained = run->Finish();
  if (executor->has_hanging_worker()) {
    trained.has_hanging_worker = true;
    static_cast<void>(run.release());
    static_cast<void>(executor.release());
  }
  return trained;
}

std::vector<float> ChooseParameters(const JobMemory& memory, std::optional<SnapshotId> snapshot,
                                    RunResult& run) {
  std::vector<float> chosen;
  const auto take = [&](std::span<const float> from) {
    if (!std::ranges::all_of(from, [](float x) { return std::isfinite(x); })) return false;
    chosen.assign(from.begin(), from.end());
    return true;
  };
  const bool failed = run.stopped_because == StopReason::kNoWorkers;
  if (failed && run.totals.updates == 0) {
    run.saved.reset();
    return chosen;
  }
  const bool newer = !run.saved || run.saved->epoch < run.totals.epoch;
  if (failed && newer && take(memory.store.idle_weights())) {
    run.saved.reset();  // no worker was left to evaluate it
  } else if (snapshot) {
    take(memory.snapshots[*snapshot].span());
  } else if (run.stopped_because != StopReason::kDiverged) {
    take(memory.store.idle_weights());
  }
  return chosen;
}

}  // namespace hogbatch
