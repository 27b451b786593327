// The tasks of all jobs that workers have and have not reported yet.
#pragma once

#include <span>
#include <vector>

#include "core/indexed_vector.h"
#include "messaging/messages.h"
#include "runtime/control/algorithm.h"

namespace hogbatch {

bool IsEvaluation(const Task& task);

class TasksInFlight {
 public:
  explicit TasksInFlight(std::span<const DeviceInfo> devices);

  // Who the workers are, and what they have in flight over all jobs. What they have done is counted
  // by each job.
  const IndexedVector<WorkerId, WorkerState>& workers() const { return workers_; }
  int count() const { return count_; }  // tasks

  // A task goes to Task::worker. `now`: as in Coordinator::Handle.
  void Send(const Task& task, double now);
  // The task of a report; it is no longer in flight.
  Task Take(const Report& report, double now);
  // The worker takes no further tasks. Returns those in flight.
  std::vector<Task> Fail(WorkerId worker);

  // The task that a worker has had for longest; null if it has none.
  const Task* Oldest(WorkerId worker) const {
    return tasks_[worker].empty() ? nullptr : &tasks_[worker].front();
  }
  // Its last report, or its first task after it.
  double silent_since(WorkerId worker) const { return silent_since_[worker]; }
  // The process was stopped: silence counts from `now`.
  void ForgiveSilence(double now);

 private:
  IndexedVector<WorkerId, WorkerState> workers_;
  IndexedVector<WorkerId, std::vector<Task>> tasks_;
  IndexedVector<WorkerId, double> silent_since_;
  int count_ = 0;
};

}  // namespace hogbatch
