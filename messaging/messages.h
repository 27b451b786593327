// The messages between the coordinator and its workers: values and ids, never pointers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/evaluation.h"
#include "core/ids.h"
#include "core/staleness.h"

namespace hogbatch {

enum class TaskKind : std::uint8_t {
  kTrain,     // train on the rows: `merges` merges of `updates_per_merge` updates each
  kApply,     // synchronous training: apply slice `slice` of `slices` of the round's held gradients
  kSnapshot,  // copy the model into snapshot `snapshot`
  kEvaluate,  // losses and metrics of snapshot `snapshot` on the rows
  kKeepLanes,  // copy the lanes `kept_lanes` of snapshot `snapshot` into the other one
  kSave,       // copy what the worker keeps between tasks into the job's checkpoint; slice 0 also
               // copies the model
  kRestore,    // forget what the worker keeps between tasks; slice 0 also replaces the model by
               // snapshot `snapshot`
  kRelease,    // free all memory of the job; the optimiser state of an exclusive job stays with the
               // job, for the worker that goes on with it
};

// A weight beyond this is a sign that training diverged: float32 has no digit left for what an
// update adds.
inline constexpr float kLargestWeight = 1e6f;

// The paper's ExecuteWork: coordinator to worker.
struct Task {
  TaskId id = 0;
  JobId job = 0;
  WorkerId worker = 0;
  TaskKind kind = TaskKind::kTrain;
  Split split = Split::kTrain;
  RowRange rows;
  // kTrain: the rows are split evenly into merges, and the rows of a merge evenly into updates. A
  // worker that trains in the shared weights itself merges with every update.
  std::int32_t merges = 1;
  std::int32_t updates_per_merge = 1;
  float learning_rate = 0;
  double rate_epoch = 0;  // where the schedule of the learning rate stands
  // kTrain of a job with lanes: the learning rate of each; none: the lane has stopped.
  std::vector<std::optional<float>> lane_rates = {};
  std::vector<std::int64_t> kept_lanes = {};
  bool hold = false;       // keep the gradient for the round's kApply instead of changing the model
  std::int64_t round = 0;  // kTrain with hold, and kApply: the synchronous round
  std::int32_t slice = 0;
  std::int32_t slices = 1;
  SnapshotId snapshot = 0;
  bool at_start = false;  // kSnapshot: of the initial model, whatever has changed since
};

// A worker's exception. The worker takes no further task. Its rows in flight are handed out again,
// except those of merges that are in the model, wholly or in part.
struct Failure {
  WorkerId worker = 0;
  std::string what;
  TaskId task = 0;               // its oldest unfinished task; 0: none
  std::int32_t merges_done = 0;  // of Task::merges
  // The merge that failed after it had changed part of the model.
  struct Torn {
    TaskId task = 0;
    std::int32_t merge = 0;
  };
  std::optional<Torn> torn;
  // It does not answer. It may still change the model by `task`, whose rows are lost.
  bool hangs = false;
};

// Of one lane, in a job that has some.
struct LaneReport {
  double loss_sum = 0;  // as those of Report
  bool has_exploded = false;
  EvaluationSums evaluation = {};
};

// The paper's ScheduleWork: a worker has finished a task and wants the next.
struct Report {
  TaskId task = 0;
  WorkerId worker = 0;
  double loss_sum = 0;              // kTrain: Σ rows of the loss before the row's update
  std::int32_t updates = 0;         // kTrain: as made; not as in the task if memory ran out
  std::int32_t merges = 0;          // kTrain: merges that brought them into the model; 0 with hold
  std::int64_t max_batch_size = 0;  // that fits the device, known once memory ran out; 0: unknown
  StalenessHistogram staleness;     // kTrain: of its merges
  std::optional<double> beta;       // kSnapshot: share of all updates that survives in the model
  bool has_exploded = false;        // kSnapshot: a weight is NaN or larger than kLargestWeight
  EvaluationSums evaluation;
  std::vector<LaneReport> lanes = {};
  double seconds = 0;  // spent on the task
  // In a queue: the worker could not finish the task, and goes on with other jobs only.
  std::optional<Failure> failure;
};

// Only time has passed.
struct Tick {};

// The user wants to stop one job, or all.
struct Interrupt {
  std::optional<JobId> job = {};
};

// The whole process was stopped for a while: no worker is late because of that.
struct ProcessContinued {};

// A checkpoint of one job, or of all that have begun, is wanted as soon as no row of it is in
// flight.
struct CheckpointRequest {
  std::optional<JobId> job = {};
};

using Event = std::variant<Report, Failure, Tick, Interrupt, ProcessContinued, CheckpointRequest>;

}  // namespace hogbatch
