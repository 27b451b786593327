// Runs the tasks of one worker, merge by merge.
//
// On a device of depth 2 a merge is computed before the previous one is committed, so that rows and
// weights travel while the device computes. Only training overlaps: any other task finds all merges
// of its worker committed.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "messaging/messages.h"
#include "runtime/workers/worker.h"

namespace hogbatch {

class TaskPipeline {
 public:
  // `on_report` gets every finished task, its report and when it ended (SteadySeconds). `worker`
  // outlives the pipeline.
  using OnReport = std::function<void(const Task&, const Report&, double ended)>;
  TaskPipeline(Worker& worker, int depth, OnReport on_report)
      : worker_(worker), depth_(depth), on_report_(std::move(on_report)) {}

  // Computes and commits the merges of a task. On a device of depth 2 the last merge may stay
  // pending: the next task commits it, or CommitPending if there is no next task.
  void Run(const Task& task);

  // A merge is computed and not yet committed.
  bool has_pending() const { return pending_.has_value(); }
  // Commits it, and reports its task if it was the last one of it.
  void CommitPending();

  // After a call of this class threw: how far the worker came.
  Failure MakeFailure(WorkerId worker, std::string what) const;

 private:
  struct MergeInFlight {
    Task task;
    int merge = 0;  // of the task; all before it are committed
    double task_begun = 0;
  };

  void FinishTask(const MergeInFlight& last);

  Worker& worker_;
  int depth_;
  OnReport on_report_;
  std::optional<MergeInFlight> pending_;  // computed, not committed
  std::optional<MergeInFlight> active_;   // in Compute or Commit at the moment
  double reported_at_ = 0;
};

}  // namespace hogbatch
