// Trains.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/run_trace.h"
#include "runtime/control/coordinator.h"
#include "runtime/control/progress.h"
#include "runtime/store/job_memory.h"
#include "runtime/workers/worker.h"
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
// which is polled, returns true. All reports go to the observer, and all tasks into `trace`, which
// has room for the devices of the plan, if it is not null.
using StopRequested = std::function<bool()>;
TrainedModel Train(const TrainingPlan& plan, const TrainingInput& input, TrainingObserver& observer,
                   const StopRequested& stop_requested = {}, RunTrace* trace = nullptr);

// The parts of a training, not yet running: for benchmarks and tests with their own executors or
// workers. Plan and input outlive it.
class TrainingRun {
 public:
  TrainingRun(const TrainingPlan& plan, const TrainingInput& input);

  JobMemory& memory() { return *memory_; }
  Coordinator& coordinator() { return coordinator_; }
  // One for each device of the plan.
  std::vector<WorkerFactory> Workers(Writes writes = Writes::kAsComputed);
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

// The parameters to save when all workers have ended: the best snapshot or, without one, the
// present model. If the last worker failed and the model is newer than the snapshot, it is the
// model. Empty if they are not all finite or no update was made: training diverged before an
// evaluation or failed at once. If the model was never evaluated, run.saved is reset.
std::vector<float> ChooseParameters(const JobMemory& memory, std::optional<SnapshotId> snapshot,
                                    RunResult& run);

}  // namespace hogbatch
