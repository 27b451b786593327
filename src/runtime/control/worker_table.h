// The workers as one job sees them: what each has done for it, and how many of its tasks they have.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/indexed_vector.h"
#include "messaging/messages.h"
#include "nn/learning_rate.h"
#include "runtime/control/algorithm.h"
#include "runtime/control/job.h"

namespace hogbatch {

// As WorkerState::max_batch_size: the worker cannot serve the job.
inline constexpr std::int64_t kDoesNotFit = -1;

class WorkerTable {
 public:
  // `max_batch_size`: that fits each worker's memory; 0, or absent: any.
  WorkerTable(std::span<const DeviceInfo> devices,
              const IndexedVector<WorkerId, std::int64_t>& max_batch_size);

  const IndexedVector<WorkerId, WorkerState>& states() const { return states_; }
  int live() const { return live_; }              // workers that have not failed
  int busy() const { return busy_; }              // workers that have tasks
  int evaluating() const { return evaluating_; }  // evaluation tasks in flight
  bool any_busy() const { return busy_ > 0; }
  int in_flight() const { return in_flight_; }  // tasks

  // A task goes to Task::worker, and comes back.
  void OnSent(const Task& task);
  void OnReport(const Task& task, const Report& report);
  // Counts a finished training task, or what was done of one that failed.
  void AddTrained(const Task& task, const Report& report);
  void AddTrained(const UnfinishedTask& unfinished);
  // Takes no further tasks, and those in flight are gone.
  void Fail(WorkerId worker);
  // Takes no further tasks of this job; those in flight come back. True the first time.
  bool Exclude(WorkerId worker) {
    return std::exchange(states_[worker].max_batch_size, kDoesNotFit) != kDoesNotFit;
  }

  // The time that workers have spent on the job, and the mean of training; 0: not measured.
  double busy_seconds() const { return busy_seconds_; }
  double seconds_per_row() const {
    return timed_rows_ > 0 ? training_seconds_ / static_cast<double>(timed_rows_) : 0;
  }

  // How far other workers move the model between the read and the merge of an update of `worker`,
  // counted in updates at the base learning rate (--lr). It is WorkerState::staleness, weighted: a
  // merge of one small update counts for less than one update, a merge of a large update or of
  // several updates for more.
  double StalenessInUpdates(const WorkerState& worker, const LearningRate& rates) const;
  // Whether `worker` should evaluate while others train: its speed is at least half of the best.
  // An evaluation task has a fixed number of rows and would keep a slow device from training for
  // long.
  bool IsFastEnoughToEvaluate(const WorkerState& worker) const;

  // While no task is in flight. The workers are the same ones.
  void VisitState(StateVisitor& visitor) {
    const std::size_t workers = states_.size();
    Visit(visitor, "states", states_);
    RequireState(states_.size() == workers, "states");
    AddUp();
  }

 private:
  void AddUp();

  IndexedVector<WorkerId, WorkerState> states_;
  // not state: live_, busy_, in_flight_, evaluating_, and sums over states_: busy_seconds_,
  // training_seconds_, timed_rows_
  int live_;
  int busy_ = 0;
  int in_flight_ = 0;
  int evaluating_ = 0;
  double busy_seconds_ = 0;
  double training_seconds_ = 0;
  std::int64_t timed_rows_ = 0;
};

}  // namespace hogbatch
