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
  kTrain,     // train on the rows, in `merges` merges of `updates_per_merge` updates each
  kApply,     // synchronous training: apply slice `slice` of `slices` of the round's held gradients
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
  // kTrain: the rows are split evenly into merges, and the rows of a merge evenly into updates. A
  // worker that trains in the shared weights itself merges with every update.
  std::int32_t merges = 1;
  std::int32_t updates_per_merge = 1;
  float learning_rate = 0;
  bool hold = false;       // keep the gradient for the round's kApply instead of changing the model
  std::int64_t round = 0;  // kTrain with hold, and kApply: the synchronous round
  std::int32_t slice = 0;
  std::int32_t slices = 1;
  SnapshotId snapshot = 0;
};

// The paper's ScheduleWork: a worker has finished a task and wants the next.
struct Report {
  TaskId task = 0;
  WorkerId worker = 0;
  double loss_sum = 0;              // kTrain: Σ rows of the loss before the row's update
  std::int32_t updates = 0;         // kTrain: made; not what was asked for where memory was short
  std::int32_t merges = 0;          // kTrain: by which they came into the model; 0 with hold
  std::int64_t max_batch_size = 0;  // that fits the device's memory, once that ran out; 0: unknown
  StalenessHistogram staleness;     // kTrain: of its merges
  std::optional<double> beta;       // kSnapshot: the share of what was added that is there
  EvaluationSums evaluation;
  double seconds = 0;  // spent on the task
};

// A worker's exception. It takes no further task, and its outstanding rows go back: all but those
// of merges that are already in the model, and those of a merge that is there in part.
struct Failure {
  WorkerId worker = 0;
  std::string what;
  TaskId task = 0;               // the oldest it has not finished; 0: none
  std::int32_t merges_done = 0;  // of Task::merges
  // The merge that broke off after it had changed part of the model.
  struct Torn {
    TaskId task = 0;
    std::int32_t merge = 0;
  };
  std::optional<Torn> torn;
};

// Nothing happened but the passing of time.
struct Tick {};

// The user wants to stop.
struct Interrupt {};

using Event = std::variant<Report, Failure, Tick, Interrupt>;

}  // namespace hogbatch
