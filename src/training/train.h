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
#include "training/checkpoint/checkpoint_file.h"
#include "training/checkpoint/run_keeper.h"
#include "training/input.h"
#include "training/model/model_file.h"
#include "training/observer.h"
#include "training/plan.h"

namespace hogbatch {

// The best of a lane, as a network of its own.
struct TrainedLane {
  std::optional<SavedModel> model;  // none: training made no model that is finite
  LaneResult run;
};

struct TrainedModel {
  std::optional<SavedModel> model;  // none: training made no model that is finite
  RunResult run;
  std::vector<TrainedLane> lanes = {};  // of a plan with lanes, which has no model
};

using StopRequested = std::function<bool()>;

// What a caller may add to a training.
struct TrainControls {
  StopRequested stop_requested = {};  // polled; the training ends soon after it returns true
  RunTrace* trace = nullptr;          // gets all tasks; has room for the devices of the plan
  // Keeps the run in a folder while it goes on: every new best model, and checkpoints.
  std::optional<KeepOptions> keep = {};
  // The run goes on where this was taken. UserError if it is of another network. CheckSameRows
  // tells whether it is of other data.
  const Checkpoint* resume = nullptr;
  // Set to true, also if Train throws, if a worker hangs: its thread still reads the plan, the
  // input and the trace, so they must never be freed. The end of the process is fine.
  bool* has_hanging_worker = nullptr;
};

// UserError if the checkpoint was taken on other rows.
void CheckSameRows(const Checkpoint& checkpoint, const TrainingInput& input);

// Returns when a rule of the plan, or the caller, stops the training. All reports go to the
// observer.
TrainedModel Train(const TrainingPlan& plan, const TrainingInput& input, TrainingObserver& observer,
                   const TrainControls& controls = {});

// The parts of a training, not yet running: for benchmarks and tests with their own executors or
// workers. Plan and input outlive it.
class TrainingRun {
 public:
  TrainingRun(const TrainingPlan& plan, const TrainingInput& input);

  JobMemory& memory() { return *memory_; }
  Coordinator& coordinator() { return coordinator_; }
  // Goes on from a checkpoint of a run with the same plan. If the devices are others, their
  // optimisers and batch sizes start anew. Before Workers.
  void Restore(const Checkpoint& checkpoint);
  // One for each device of the plan.
  std::vector<WorkerFactory> Workers(Writes writes = Writes::kAsComputed);
  // To be called when all workers have ended.
  TrainedModel Finish() const;

 private:
  const TrainingPlan& plan_;
  const TrainingInput& input_;
  std::unique_ptr<JobMemory> memory_;
  Coordinator coordinator_;
};

// What the workers of a training share, with its starting weights.
std::unique_ptr<JobMemory> MakeMemory(const TrainingPlan& plan, const TrainingInput& input);
// The same for a run on more devices than the plan names.
std::unique_ptr<JobMemory> MakeMemory(const TrainingPlan& plan, const TrainingInput& input,
                                      int workers);

// The parameters to save when all workers have ended: the best snapshot or, without one, the
// present model. If the last worker failed and the model is newer than the snapshot, it is the
// model, unless it may have learnt from rows that were lost. Empty if they are not all finite or no
// update was made: training diverged before an evaluation or failed at once. If the model was never
// evaluated, run.saved is reset. MappingLost if only a model is there that may have learnt from
// such rows.
std::vector<float> ChooseParameters(const JobMemory& memory, std::optional<SnapshotId> snapshot,
                                    RunResult& run);

}  // namespace hogbatch
