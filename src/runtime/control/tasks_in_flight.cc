#include "runtime/control/tasks_in_flight.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "runtime/control/teams.h"

namespace hogbatch {

bool IsEvaluation(const Task& task) {
  return task.kind == TaskKind::kSnapshot || task.kind == TaskKind::kEvaluate ||
         task.kind == TaskKind::kKeepLanes;
}

TasksInFlight::TasksInFlight(std::span<const DeviceInfo> devices)
    : tasks_(devices.size()), silent_since_(devices.size()) {
  const Teams teams = MakeTeams(devices);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    workers_.push_back({.id = i, .device = devices[i], .team = teams.of_worker[i]});
  }
}

void TasksInFlight::Send(const Task& task, double now) {
  WorkerState& worker = workers_[task.worker];
  if (worker.outstanding == 0) silent_since_[task.worker] = now;
  ++worker.outstanding;
  ++count_;
  if (IsEvaluation(task)) ++worker.evaluations;
  tasks_[task.worker].push_back(task);
}

Task TasksInFlight::Take(const Report& report, double now) {
  std::vector<Task>& tasks = tasks_[report.worker];
  const auto found = std::ranges::find(tasks, report.task, &Task::id);
  Check(found != tasks.end(), "a report for a task its worker does not have");
  Task task = std::move(*found);
  tasks.erase(found);
  WorkerState& worker = workers_[report.worker];
  --worker.outstanding;
  --count_;
  silent_since_[report.worker] = now;
  worker.busy_seconds += report.seconds;
  if (IsEvaluation(task)) --worker.evaluations;
  return task;
}

std::vector<Task> TasksInFlight::Fail(WorkerId id) {
  WorkerState& worker = workers_[id];
  worker.live = false;
  count_ -= worker.outstanding;
  worker.outstanding = worker.evaluations = 0;
  return std::exchange(tasks_[id], {});
}

void TasksInFlight::ForgiveSilence(double now) {
  for (double& since : silent_since_) since = std::max(since, now);
}

}  // namespace hogbatch
