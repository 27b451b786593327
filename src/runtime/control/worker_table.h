// The workers of a run: what each has done, and its tasks in flight.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/indexed_vector.h"
#include "messaging/messages.h"
#include "nn/learning_rate.h"
#include "runtime/control/algorithm.h"
#include "runtime/control/job.h"

namespace hogbatch {

class WorkerTable {
 public:
  // `max_batch_size`: that fits each worker's memory; 0, or absent: any.
  WorkerTable(std::span<const DeviceInfo> devices, std::span<const std::int64_t> max_batch_size);

  const IndexedVector<WorkerId, WorkerState>& states() const { return states_; }
  int live() const { return live_; }              // workers that have not failed
  int evaluating() const { return evaluating_; }  // evaluation tasks in flight
  bool any_busy() const;
  // The first worker that has not failed; null if there is none.
  const WorkerState* FirstLive() const;

  // A task goes to Task::worker. `now`: as in Coordinator::Handle.
  void Send(const Task& task, double now);
  // The task of a report; it is no longer in flight.
  Task Take(const Report& report, double now);
  // Counts a finished training task, or what was done of one that failed.
  void AddTrained(const Task& task, const Report& report);
  void AddTrained(const UnfinishedTask& unfinished);
  // Takes no further tasks. Returns those in flight.
  std::vector<Task> Fail(WorkerId worker);

  // A worker that has not answered for `least` seconds and for 100 times as long as its task should
  // take; before its speed is known, for 10 times `least`. A worker that copies a snapshot may wait
  // for a disk and is left alone.
  struct Silence {
    TaskId task = 0;  // the oldest one
    WorkerId worker = 0;
    double since = 0;
    double ends = 0;  // when the worker is given up
  };
  std::optional<Silence> NextSilence(double least) const;
  // Nobody could answer until `now`.
  void ForgiveSilence(double now);

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
  }

 private:
  IndexedVector<WorkerId, WorkerState> states_;
  // not state: in_flight_, silent_since_, live_, evaluating_
  IndexedVector<WorkerId, std::vector<Task>> in_flight_;
  IndexedVector<WorkerId, double> silent_since_;  // its last report, or its first task after it
  int live_;
  int evaluating_ = 0;
};

bool IsEvaluation(const Task& task);

}  // namespace hogbatch
