// A job in a run: what is known of it alone. It hands out the job's tasks and judges what comes
// back. The coordinator carries its tasks to workers and tells it of time and failures.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/indexed_vector.h"
#include "messaging/messages.h"
#include "nn/learning_rate.h"
#include "runtime/control/algorithm.h"
#include "runtime/control/evaluations.h"
#include "runtime/control/job.h"
#include "runtime/control/jobs/lane_runs.h"
#include "runtime/control/pause_phase.h"
#include "runtime/control/progress.h"
#include "runtime/control/progress_meter.h"
#include "runtime/control/stop_rules.h"
#include "runtime/control/task_length.h"
#include "runtime/control/worker_table.h"

namespace hogbatch {

// Everything that is known of a job before it begins.
struct JobSetup {
  JobSpec job;  // its id is chosen by the coordinator
  SplitRows rows;
  RunRules rules;
  LearningRate rates;
  std::shared_ptr<Algorithm> algorithm;
  // That fits each worker's memory; 0, or absent: any. kDoesNotFit: the worker cannot serve the
  // job.
  IndexedVector<WorkerId, std::int64_t> max_batch_size = {};
  // Bytes that it takes of each worker's DeviceInfo::memory_bytes; absent: none. While there is no
  // room beside other jobs, it waits.
  IndexedVector<WorkerId, std::int64_t> device_bytes = {};
  std::int64_t merge_rows = 1;         // rows per merge of a replica, for updates that are smaller
  double task_seconds = kTaskSeconds;  // about how long a training task takes
  std::uint64_t seed = 1;
  std::vector<LaneSetup> lanes = {};  // of an exclusive job; empty: it trains one network
};

// What comes out of an event.
struct RunActions {
  std::vector<Task> tasks;        // to send to Task::worker
  std::vector<Progress> reports;  // to show
  std::vector<Failure> failures;  // to tell the user
  struct Warning {
    JobId job = 0;
    std::string sentence;
  };
  std::vector<Warning> warnings;
  std::vector<JobId> began;
  std::vector<JobId> ended;
};

// What the jobs of a run share. Times are in seconds.
struct RunContext {
  double start = 0;  // of the run
  double now = 0;    // of the present event
  TaskId next_id = 1;
  RunActions actions;
};

class JobRun {
 public:
  // `run` outlives it.
  JobRun(const JobSetup& setup, std::span<const DeviceInfo> workers, RunContext& run);

  const JobSpec& spec() const { return job_.spec(); }
  JobId id() const { return job_.spec().id; }
  // As a scheduler sees it.
  JobState state() const;
  const IndexedVector<WorkerId, WorkerState>& workers() const { return workers_.states(); }
  int tasks_in_flight() const { return workers_.in_flight(); }

  // Starts the clock of the job. Before that it has no task.
  void Begin();
  bool has_begun() const { return has_begun_; }
  bool has_arrived() const { return run_.now - run_.start >= arrived_; }
  double arrival() const { return run_.start + arrived_; }  // when it arrives
  // It is over, and no task of it is in flight.
  bool done() const;
  // When done: the clock of the job stops, and it leaves its workers.
  void End();
  bool has_ended() const { return ended_at_.has_value(); }
  // When it needs an event if nothing else happens; infinite: never.
  double next_tick() const;

  // An event begins: a checkpoint that was ready is over.
  void BeginEvent() {
    if (!checkpoint_.ready()) return;
    checkpoint_.End();
    is_saved_ = done();
  }
  void OnSent(const Task& task) { workers_.OnSent(task); }
  void OnReport(const Task& task, const Report& report);
  // `tasks`: those of any job that the worker had in flight.
  void OnFailure(const Failure& failure, std::span<const Task> tasks);
  // Report::failure: only this job cannot go on with the worker.
  void OnRefused(const Task& task, const Report& report);
  void Interrupt();
  void RequestCheckpoint() { checkpoint_.Request(); }
  // Stops the job if there is no worker for it.
  void CheckWorkers();
  // After the event: what follows from it.
  void Check();
  // Adds a report, if it is time for one.
  void ReportIfDue();

  // Device memory that it takes on a worker, and whether it has taken it.
  std::int64_t device_bytes(WorkerId worker) const { return device_bytes_.value_or(worker, 0); }
  bool has_visited(WorkerId worker) const { return visited_[worker]; }
  // Tells the user once that the job waits for memory of a device.
  void WarnAboutMemory(WorkerId worker);
  // The worker may have tasks of the job at this moment.
  bool MayServe(WorkerId worker) const;
  // The task that only this worker can do: its part of a pause or of a round. Without an id.
  std::optional<Task> OwnTask(WorkerId worker);
  // Any task for the worker, without an id; none if there is nothing to do at the moment.
  std::optional<Task> NextTask(WorkerId worker);
  // Synchronous training: no other job may have a task while a round is open, and none begins while
  // another job has one.
  bool in_round() const { return job_.round().open(); }
  // It has no task now and will have one soon, for which workers must be idle.
  bool awaits_round() const;

  // An exclusive job keeps its optimiser state on one worker. Before another one serves it, the
  // first one has to release it.
  bool belongs_to_another(WorkerId worker) const { return owner_ && *owner_ != worker; }
  bool CanMove() const;
  // Workers free the memory that they have for the job.
  void Release();
  bool releasing() const { return release_.under_way(); }

  // When done. The parameters to save are those of saved_snapshot().
  RunResult Result() const;
  std::optional<SnapshotId> saved_snapshot() const;
  // Seconds after the run began.
  double arrived_at() const { return arrived_; }
  double began_at() const { return began_at_; }  // if it has begun
  double ended_at() const { return ended_at_.value_or(run_.now) - run_.start; }
  StopReason reason() const { return reason_; }

  // See Coordinator.
  bool checkpoint_ready() const { return checkpoint_.ready(); }
  bool checkpoint_pending() const { return checkpoint_.wanted() || checkpoint_.under_way(); }
  // It is done, and there is no checkpoint of its end, although there could be one.
  bool awaits_last_checkpoint() const;
  void VisitState(StateVisitor& visitor);

 private:
  void OnTrained(const Task& task, const Report& report);
  void OnEvaluated(const Task& task, const Report& report);
  void OnLanesEvaluated(const Task& task, const Report& report);
  void TakeBack(const Task& task, const Failure& failure);
  void InterruptPauses();
  void InheritSlices(WorkerId from);
  void Diverge(std::string_view why);
  void CheckRollback();
  void RollBack();
  void CheckStop();
  void CheckCheckpoint();
  void CheckEvaluation();
  bool EvaluationIsDue() const;
  void PlanEvaluation();
  bool IsAtPause() const;
  std::int64_t RowsToEvaluation() const;
  bool is_draining() const;
  void Stop(StopReason reason);
  bool IsUsable(const WorkerState& worker) const;
  std::vector<WorkerId> Pausing() const;
  std::optional<Task> OwnTaskOf(WorkerId worker);
  std::optional<Task> SharedTask(const WorkerState& worker);
  std::optional<Task> NextTrainingTask(const WorkerState& worker);
  std::int64_t MergeRows(const WorkerState& worker) const;
  bool MayEvaluateNow(const WorkerState& worker) const;
  ProgressMeter::Run MeteredRun() const;

  // not state: run_, rules_, merge_rows_, task_seconds_, checkpoint_, rollback_ (a checkpoint waits
  // for it), release_, visited_, device_bytes_, warned_about_memory_, is_saved_, owner_ (a resumed
  // job has none), has_begun_, began_at_, ended_at_, arrived_, at_snapshot_, position_at_snapshot_
  // (no evaluation is under way), reason_
  RunContext& run_;
  std::shared_ptr<Algorithm> algorithm_;
  RunRules rules_;
  std::int64_t merge_rows_;
  double task_seconds_;
  Job job_;
  Evaluations evaluations_;
  StopRules stop_rules_;
  std::optional<LaneRuns> lanes_;  // none: one network
  ProgressMeter meter_;
  WorkerTable workers_;
  PausePhase checkpoint_{TaskKind::kSave};
  PausePhase rollback_{TaskKind::kRestore};  // to the last good model
  PausePhase release_{TaskKind::kRelease};
  IndexedVector<WorkerId, std::int64_t> device_bytes_;
  bool warned_about_memory_ = false;
  bool is_saved_ = false;                  // in a checkpoint, since it is done
  IndexedVector<WorkerId, bool> visited_;  // workers that have memory of the job
  std::optional<WorkerId> owner_;  // of an exclusive job: the worker that keeps its optimiser state

  bool has_begun_ = false;
  double began_at_ = 0;
  std::optional<double> ended_at_;
  double arrived_;
  double next_evaluation_ = 0;          // epoch
  std::int64_t evaluated_at_ = -1;      // examples behind the latest snapshot
  Progress at_snapshot_;                // where the run stood when the latest snapshot was taken
  Job::Position position_at_snapshot_;  // the same, to go back to
  Job::Position good_position_;         // of the best snapshot
  std::int64_t rollbacks_ = 0;
  StopReason reason_ = StopReason::kNone;
};

}  // namespace hogbatch
