#include "training/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "core/error.h"
#include "nn/lanes/lanes.h"
#include "runtime/control/teams.h"
#include "runtime/executors/executor.h"
#include "training/job_parts.h"
#include "training/network.h"

namespace hogbatch {
namespace {

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

// Class weights that one lane has, the others have, too: they are 1.
void SetLanes(const TrainingPlan& plan, const TrainingInput& input, JobMemory& memory) {
  const ModelSpec& model = plan.work.model;
  const bool weighted = std::ranges::any_of(
      plan.lanes, [](const LanePlan& lane) { return !lane.class_weights.empty(); });
  std::vector<float> start(Layout(model).floats);
  for (const LanePlan& lane : plan.lanes) {
    SetLane(model, std::ssize(memory.lanes),
            StartingWeights(Alone(model), lane.init, lane.seed, input), start);
    memory.lanes.push_back(lane.optimizer);
    if (!weighted) continue;
    const std::vector<float> ones(model.outputs, 1.0f);
    const std::vector<float>& own = lane.class_weights.empty() ? ones : lane.class_weights;
    memory.class_weights.insert(memory.class_weights.end(), own.begin(), own.end());
  }
  memory.SetWeights(start);
}

}  // namespace

void CheckSameRows(const Checkpoint& checkpoint, const TrainingInput& input) {
  const std::string rows = Fingerprint(input);
  if (IsSameData(checkpoint.texts.data, rows)) return;
  RequireReadable(input.training.data);
  throw UserError(
      fmt::format("the data has changed since the checkpoint was written: it had {}, and has {}; "
                  "bring those rows back, or start a new run in another folder",
                  checkpoint.texts.data, rows));
}

std::unique_ptr<JobMemory> MakeMemory(const TrainingPlan& plan, const TrainingInput& input) {
  return MakeMemory(plan, input, static_cast<int>(plan.work.devices.size()));
}

std::unique_ptr<JobMemory> MakeMemory(const TrainingPlan& plan, const TrainingInput& input,
                                      int workers) {
  const Workload& work = plan.work;
  auto memory = std::make_unique<JobMemory>(work.model, input.training.data,
                                            input.test ? &*input.test : nullptr, workers);
  memory->optimizer = work.optimizer;
  memory->explicit_momentum = work.explicit_momentum;
  memory->merge = plan.merge;
  memory->teams = static_cast<int>(MakeTeams(InfosOf(work.devices)).names.size());
  if (!plan.lanes.empty()) {
    SetLanes(plan, input, *memory);
  } else {
    memory->class_weights = plan.class_weights;
    memory->SetWeights(StartingWeights(plan.work.model, plan.init, plan.seed, input));
  }
  return memory;
}

TrainingRun::TrainingRun(const TrainingPlan& plan, const TrainingInput& input)
    : plan_(plan),
      input_(input),
      memory_(MakeMemory(plan, input)),
      coordinator_(MakeJobSetup(plan, input), InfosOf(plan.work.devices)) {}

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
  RestoreJob(checkpoint, coordinator_.job(0), InfosOf(plan_.work.devices), *memory_);
}

TrainedModel TrainingRun::Finish() const {
  return FinishJob(coordinator_.job(0), plan_, input_, *memory_);
}

TrainedModel Train(const TrainingPlan& plan, const TrainingInput& input, TrainingObserver& observer,
                   const TrainControls& controls) {
  if (controls.resume) CheckSameNetwork(*controls.resume, plan);
  auto run = std::make_unique<TrainingRun>(plan, input);
  if (controls.resume) run->Restore(*controls.resume);
  std::unique_ptr<Executor> executor =
      MakeThreadExecutor(run->Workers(), plan.pinning, controls.stop_requested, controls.trace);
  // What the thread of a worker that hangs uses is never freed.
  const auto keep_for_hanging = [&] {
    if (!executor->has_hanging_worker()) return;
    if (controls.has_hanging_worker) *controls.has_hanging_worker = true;
    static_cast<void>(run.release());
    static_cast<void>(executor.release());
  };
  try {
    if (controls.keep) {
      RunKeeper keeper(*controls.keep, plan, input, run->memory(), observer, controls.resume);
      BestWatcher watcher(run->coordinator(), keeper, observer);
      executor->Run(run->coordinator(), watcher, &keeper);
      keeper.AwaitTaken();
    } else {
      executor->Run(run->coordinator(), observer);
    }
    TrainedModel trained = run->Finish();
    keep_for_hanging();
    return trained;
  } catch (...) {
    keep_for_hanging();
    throw;
  }
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
  if (failed && newer && IsReadable(memory.data) && take(memory.store.idle_weights())) {
    run.saved.reset();  // no worker was left to evaluate it
  } else if (snapshot) {
    take(memory.snapshots[*snapshot].span());
  } else if (run.stopped_because != StopReason::kDiverged) {
    RequireReadable(memory.data);
    take(memory.store.idle_weights());
  }
  return chosen;
}

}  // namespace hogbatch
