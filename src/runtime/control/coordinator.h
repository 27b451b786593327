// State: who does what, how far the run is, when it ends. The coordinator owns no thread, queue or
// clock: events go in with the time they happened, tasks to send come out. So the same code runs in
// real time, in virtual time and in a test.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "messaging/messages.h"
#include "nn/learning_rate.h"
#include "runtime/control/algorithm.h"
#include "runtime/control/evaluation_rounds.h"
#include "runtime/control/job.h"
#include "runtime/control/progress.h"
#include "runtime/control/stop_rules.h"
#include "runtime/control/teams.h"

namespace hogbatch {

class Coordinator {
 public:
  // Everything that is known before the run. Worker ids are indices of `workers`.
  struct Setup {
    JobSpec job;
    SplitRows rows;
    RunRules rules;
    LearningRate rates;
    std::vector<DeviceInfo> workers;
    std::vector<std::int64_t> max_batch_size =
        {};                       // that each worker's memory allows an update; 0: any
    std::int64_t merge_rows = 1;  // of a replica: smaller updates are made several in a row
    std::uint64_t seed = 1;
  };
  Coordinator(Algorithm& algorithm, const Setup& setup);

  struct Actions {
    std::vector<Task> tasks;        // to be sent to Task::worker
    std::vector<Progress> reports;  // to be shown
    std::vector<Failure> failures;  // to be told to the user
  };
  // The first event starts the clock of the run. Times are in seconds and never decrease. What is
  // returned is good until the next call.
  const Actions& Handle(const Event& event, double now);

  // The run is over and no task is outstanding.
  bool done() const;
  // The time by which it wants to hear a Tick if nothing else happens.
  double next_tick() const;

  // To be asked when done. The parameters to save are those of saved_snapshot().
  RunResult Result() const;
  std::optional<SnapshotId> saved_snapshot() const;
  const std::vector<WorkerState>& workers() const { return workers_; }

 private:
  void OnReport(const Report& report);
  void OnFailure(const Failure& failure);
  void OnTraining(const Task& task, const Report& report);
  void OnEvaluated(const Evaluation& evaluation);
  void OpenSlices();
  void CheckStop();
  void CheckEvaluation();
  void Dispatch();
  std::optional<Task> NextTask(const WorkerState& worker);
  std::optional<Task> NextSlice(WorkerId worker);
  std::optional<Task> NextTraining(const WorkerState& worker);
  double StalenessInSteps(const WorkerState& worker) const;
  std::int64_t MergeRows(const WorkerState& worker) const;
  bool IsQuick(const WorkerState& worker) const;
  void Stop(StopReason reason);
  Progress Totals() const;
  Progress ReportProgress();

  Algorithm& algorithm_;
  RunRules rules_;
  std::int64_t merge_rows_;
  Job job_;
  EvaluationRounds rounds_;
  StopRules stop_rules_;
  Teams teams_;
  std::vector<WorkerState> workers_;
  std::vector<std::string> failures_;         // of each worker; empty: none
  std::vector<std::vector<Task>> in_flight_;  // tasks outstanding at each worker
  std::vector<Task> slices_;                  // kApply tasks that wait for Task::worker
  int live_ = 0;                              // workers that have not failed
  int open_slices_ = 0;                       // handed out or waiting
  int evaluating_ = 0;                        // workers on evaluation tasks
  bool in_steps_ = false;                     // training is synchronous
  TaskId next_id_ = 1;

  bool started_ = false;
  double start_ = 0;
  double now_ = 0;
  double evaluation_seconds_ = 0;   // averaged over the workers that were live
  double next_evaluation_ = 0;      // epoch
  std::int64_t evaluated_at_ = -1;  // examples behind the latest snapshot
  Progress at_snapshot_;            // where the run stood when the latest snapshot was taken
  StopReason reason_ = StopReason::kNone;
  StalenessHistogram staleness_;
  std::optional<double> beta_;

  // Where the last report stood, for its rates.
  double reported_at_ = 0;
  std::int64_t reported_examples_ = 0;
  std::int64_t reported_updates_ = 0;
  double reported_loss_ = 0;
  std::int64_t reported_rows_with_loss_ = 0;
  std::vector<std::int64_t> reported_rows_;  // of each team

  Actions actions_;
};

}  // namespace hogbatch
