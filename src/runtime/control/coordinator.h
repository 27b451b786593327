// Decides what every worker does next and when the run ends.
//
// The coordinator owns no thread, queue or clock: events go in with the time they happened, and
// tasks to send come out. So the same code runs in real time, in virtual time and in a test.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/indexed_vector.h"
#include "messaging/messages.h"
#include "nn/learning_rate.h"
#include "runtime/control/algorithm.h"
#include "runtime/control/evaluations.h"
#include "runtime/control/job.h"
#include "runtime/control/pause_phase.h"
#include "runtime/control/progress.h"
#include "runtime/control/progress_meter.h"
#include "runtime/control/stop_rules.h"
#include "runtime/control/task_length.h"
#include "runtime/control/worker_table.h"

namespace hogbatch {

// Generous: a machine that swaps, or a device that compiles, is slow and not lost.
inline constexpr double kSilenceSeconds = 120;

class Coordinator {
 public:
  // Everything that is known before the run. Worker ids are indices of `workers`.
  struct Setup {
    JobSpec job;
    SplitRows rows;
    RunRules rules;
    LearningRate rates;
    std::vector<DeviceInfo> workers;
    std::vector<std::int64_t> max_batch_size = {};  // that fits each worker's memory; 0: any
    std::int64_t merge_rows = 1;  // rows per merge of a replica, for updates that are smaller
    double task_seconds = kTaskSeconds;  // about how long a training task takes
    std::uint64_t seed = 1;
    // A worker that does not answer for so long, and for many times as long as expected, is given
    // up.
    double silence_seconds = kSilenceSeconds;
  };
  Coordinator(Algorithm& algorithm, const Setup& setup);

  struct Actions {
    std::vector<Task> tasks;        // to send to Task::worker
    std::vector<Progress> reports;  // to show
    std::vector<Failure> failures;  // to tell the user
    std::vector<std::string> warnings;
  };
  // The first event starts the clock of the run. Times are in seconds and never decrease. The
  // result is valid until the next call.
  const Actions& Handle(const Event& event, double now);

  // The run is over and no task is in flight.
  bool done() const;
  // The time by which it needs a Tick if nothing else happens.
  double next_tick() const;

  // When done. The parameters to save are those of saved_snapshot().
  RunResult Result() const;
  std::optional<SnapshotId> saved_snapshot() const;

  // After a CheckpointRequest: no row is in flight, and the workers have copied their part. True
  // until the next event, which ends it. If a worker fails meanwhile, there is no checkpoint.
  bool checkpoint_ready() const { return checkpoint_.ready(); }
  // A checkpoint was requested and is neither ready nor given up.
  bool checkpoint_pending() const { return checkpoint_.wanted() || checkpoint_.under_way(); }
  // While a checkpoint is ready, or before the first event to restore one. What belongs to workers
  // is restored only if they are the same ones.
  void VisitState(StateVisitor& visitor);
  const IndexedVector<WorkerId, WorkerState>& workers() const { return workers_.states(); }

 private:
  void OnReport(const Report& report);
  void OnTrained(const Task& task, const Report& report);
  void OnEvaluated(const Task& task, const Report& report);
  void OnFailure(const Failure& failure);
  void TakeBack(const Task& task, const Failure& failure);
  void Diverge(std::string_view why);
  void CheckSilence();
  void CheckRollback();
  void RollBack();
  void CheckStop();
  void CheckEvaluation();
  double EvaluationAfter(double epoch) const;
  void CheckCheckpoint();
  bool runs_dry() const;
  void Stop(StopReason reason);
  void SendTasks();
  std::optional<Task> NextTask(const WorkerState& worker);
  std::optional<Task> NextTrainingTask(const WorkerState& worker);
  std::int64_t MergeRows(const WorkerState& worker) const;
  bool MayEvaluateNow(const WorkerState& worker) const;
  ProgressMeter::Run MeteredRun() const;

  // not state: rules_, merge_rows_, task_seconds_, silence_seconds_, checkpoint_, rollback_ (a
  // checkpoint waits for it), started_, now_, at_snapshot_, place_at_snapshot_ (no evaluation is
  // under way), reason_, actions_
  Algorithm& algorithm_;
  RunRules rules_;
  std::int64_t merge_rows_;
  double task_seconds_;
  double silence_seconds_;
  Job job_;
  Evaluations evaluations_;
  StopRules stop_rules_;
  ProgressMeter meter_;
  WorkerTable workers_;
  PausePhase checkpoint_{TaskKind::kSave};
  PausePhase rollback_{TaskKind::kRestore};  // to the last good model
  bool synchronous_ = false;                 // the latest training task was part of a round
  TaskId next_id_ = 1;

  bool started_ = false;
  double now_ = 0;
  double next_evaluation_ = 0;      // epoch
  std::int64_t evaluated_at_ = -1;  // examples behind the latest snapshot
  Progress at_snapshot_;            // where the run stood when the latest snapshot was taken
  Job::Place place_at_snapshot_;    // the same, to go back to
  Job::Place good_place_;           // of the best snapshot
  std::int64_t rollbacks_ = 0;
  StopReason reason_ = StopReason::kNone;

  Actions actions_;
};

}  // namespace hogbatch
