// How many updates make a task.
//
// A message costs microseconds, and an update may cost as little. So a task has as many updates as
// its worker makes in about 20 ms.
#pragma once

#include <cstdint>

#include "runtime/control/algorithm.h"

namespace hogbatch {

// Long enough that messages cost nothing.
inline constexpr double kTaskSeconds = 0.02;

// The worker that gets the task, and its batch size.
struct TaskRequest {
  const WorkerState& worker;
  std::int64_t batch_size = 1;
  double task_seconds = kTaskSeconds;
};
// Updates for the next task. A task is at most a small part of the rows that are left, so that all
// workers finish at about the same time. A worker that was not measured yet gets a short task: its
// learning rate is set when the task is sent, and would be too high for the model that a slow
// device meets when it is done.
std::int32_t UpdatesPerTask(const TaskRequest& request, const JobTable& table);

// A finished training task.
struct TimedTask {
  std::int64_t rows = 0;
  double seconds = 0;
};
// WorkerState::seconds_per_row after one more task: a moving average, since a single task may have
// been disturbed. `known` is the average so far; 0: there is none yet.
double SmoothedSecondsPerRow(double known, const TimedTask& latest);

}  // namespace hogbatch
