// Trains.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/control/coordinator.h"
#include "runtime/control/progress.h"
#include "runtime/store/job_memory.h"
#include "runtime/workers/worker.h"
#include "training/checkpoint/checkpoint_file.h"
#include "training/checkpoint/run_keeper.h"
#include "training/input.h"
#include "training/model/model_file.h"
#include "training/observer.h"
#include "training/plan.h"

namespace hogbatch {

struct TrainedModel {
  std::optional<SavedModel> model;  // none: training made no model that is finite
  RunResult run;
};

// Returns when a rule of the plan stops the training, or soon after `stop_requested`,
// which is polled, returns true. All reports go to the observer.
using StopRequested = std::function<bool()>;
TrainedModel Train(const TrainingPlan& plan, const TrainingInput& input, TrainingObserver& observer,
                   const StopRequested& stop_requested = {});

// The same, kept in a folder while it goes on: the best model and checkpoints. With a checkpoint to
// resume from, the run goes on where that was taken; UserError if it is of other data.
TrainedModel TrainKept(const TrainingPlan& plan, const TrainingInput& input,
                       TrainingObserver& observer, const StopRequested& stop_requested,
                       const KeepOptions& keep, const Checkpoint* resume = nullptr);

// The same put together and not yet run, for callers with executors or workers of their own:
// benchmarks and tests. Plan and input outlive it.
class TrainingRun {
 public:
  TrainingRun(const TrainingPlan& plan, const TrainingInput& input);

  JobMemory& memory() { return *memory_; }
  Coordinator& coordinator() { return coordinator_; }
  // Goes on from a checkpoint of a run with the same plan. If the devices are others, their
  // optimisers and batch sizes start anew. Before Workers.
  void Restore(const Checkpoint& checkpoint);
  // One for each device of the plan.
  std::vector<WorkerFactory> Workers();
  // To be called when all workers have ended.
  TrainedModel Finish() const;

 private:
  const TrainingPlan& plan_;
  const TrainingInput& input_;
  std::unique_ptr<JobMemory> memory_;
  std::unique_ptr<Algorithm> algorithm_;
  Coordinator coordinator_;
};

// What the workers of a training share, with its starting weights.
std::unique_ptr<JobMemory> MakeMemory(const TrainingPlan& plan, const TrainingInput& input);

// The parameters to save when all workers have ended: those of the snapshot that the run holds
// best, else the model as it is. Where the last worker failed and the model is newer than the
// snapshot, the model. Empty when they are not all finite or no update was made: training diverged
// before an evaluation, or failed at once. Where the model was never evaluated, run.saved is reset.
std::vector<float> ChooseParameters(const JobMemory& memory, std::optional<SnapshotId> snapshot,
                                    RunResult& run);

}  // namespace hogbatch
