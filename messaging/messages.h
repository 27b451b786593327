// The messages between the coordinator and its workers: values and ids, never pointers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "core/evaluation.h"
#include "core/ids.h"
#include "core/staleness.h"

namespace hogbatch {

enum class TaskKind : std::uint8_t {
  kTrain,     // walk the rows in `updates` updates of the model
  kApply,     // synchronous training: apply slice `slice` of `slices` of the step's held gradients
  kSnapshot,  // copy the model into snapshot `snapshot`
  kEvaluate,  // losses and metrics of snapshot `snapshot` on the rows
};

// The paper's ExecuteWork: coordinator to worker.
struct Task {
  TaskId id = 0;
  JobId job = 0;
  WorkerId worker = 0;
  TaskKind kind = TaskKind::kTrain;
  Split split = Split::kTrain;
  RowRange rows;
  std::int32_t updates = 1;  // the rows are cut into this many nearly equal parts
  // kTrain: and each of them into so many, which a replica walks on its own before it is merged.
  // Every such step counts as an update.
  std::int32_t steps = 1;
  float rate = 0;
  bool hold = false;      // keep the gradient for the step's kApply instead of changing the model
  std::int64_t step = 0;  // kTrain with hold, and kApply: the synchronous step
  std::int32_t slice = 0;
  std::int32_t slices = 1;
  SnapshotId snapshot = 0;
};

// The paper's ScheduleWork: a worker has finished a task and wants the next.
struct Report {
  TaskId task = 0;
  WorkerId worker = 0;
  double loss_sum = 0;           // kTrain: Σ rows of the loss before the row's update
  std::int32_t updates = 0;      // kTrain: made; not what was asked for where memory was short
  std::int64_t most_rows = 0;    // an update may have, as the device found out; 0: no limit met yet
  StalenessHistogram staleness;  // kTrain: of its merges
  std::optional<double> beta;    // kSnapshot: the share of what was added that is there
  EvaluationSums evaluation;
  double seconds = 0;  // spent on the task
};

// A worker's exception. It takes no further task, and its outstanding rows go back: all but those
// of updates that are already in the model, and those of an update that is there in part.
struct Failure {
  WorkerId worker = 0;
  std::string what;
  TaskId task = 0;                // the oldest it has not finished; 0: none
  std::int32_t updates_done = 0;  // of Task::updates
  // The update that broke off after it had changed part of the model.
  struct Torn {
    TaskId task = 0;
    std::int32_t update = 0;
  };
  std::optional<Torn> torn;
};

// Nothing happened but the passing of time.
struct Tick {};

// The user wants to stop.
struct Interrupt {};

using Event = std::variant<Report, Failure, Tick, Interrupt>;

}  // namespace hogbatch
