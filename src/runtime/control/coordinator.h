// Decides what every worker does next and when the run ends.
//
// The coordinator owns no thread, queue or clock: events go in with the time they happened, and
// tasks to send come out. So the same code runs in real time, in virtual time and in a test.
//
// A run has one job, or any number of jobs on the same workers. What belongs to a job is in JobRun.
// The coordinator keeps workers, ids and the clock, and tells all jobs of a worker that failed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/indexed_vector.h"
#include "messaging/messages.h"
#include "runtime/control/algorithm.h"
#include "runtime/control/jobs/job_run.h"
#include "runtime/control/scheduler.h"
#include "runtime/control/tasks_in_flight.h"

namespace hogbatch {

// Generous: a machine that swaps, or a device that compiles, is slow and not lost.
inline constexpr double kSilenceSeconds = 120;

class Coordinator {
 public:
  // A run of one job. Worker ids are indices of `workers`. A worker that does not answer for
  // `silence_seconds`, and for many times as long as expected, is given up.
  Coordinator(const JobSetup& job, const std::vector<DeviceInfo>& workers,
              double silence_seconds = kSilenceSeconds);

  // A run of many jobs.
  struct QueueSetup {
    std::vector<DeviceInfo> workers;
    double silence_seconds = kSilenceSeconds;
    // When all jobs have ended, more may come until the run is interrupted.
    bool stays_open = false;
    // A job that is done stays until there is a checkpoint of its end, which has to be requested.
    bool saves_ended = false;
  };
  // `scheduler` outlives it.
  Coordinator(Scheduler& scheduler, const QueueSetup& setup);
  // Before the first event or between two. Ids count from 0 in the order of calls.
  JobId Add(const JobSetup& setup);

  using Actions = RunActions;
  // The first event starts the clock of the run. Times are in seconds and never decrease. The
  // result is valid until the next call.
  const Actions& Handle(const Event& event, double now);

  // The run is over and no task is in flight.
  bool done() const;
  // The time by which it needs a Tick if nothing else happens.
  double next_tick() const;

  const JobRun& job(JobId id) const { return *jobs_[id]; }
  JobRun& job(JobId id) { return *jobs_[id]; }
  auto job_ids() const { return jobs_.ids(); }
  // Of the only job.
  RunResult Result() const { return job(0).Result(); }
  std::optional<SnapshotId> saved_snapshot() const { return job(0).saved_snapshot(); }

  // After a CheckpointRequest: jobs of which no row is in flight, and for which workers have copied
  // their part. They stay so until the next event. If a worker fails meanwhile, there is no
  // checkpoint.
  std::vector<JobId> ready_checkpoints() const;
  // A checkpoint was requested and is neither ready nor given up.
  bool checkpoint_pending() const;

  // Who the workers are, and what they have in flight. What they have done is known to the jobs.
  const IndexedVector<WorkerId, WorkerState>& workers() const { return tasks_.workers(); }
  double silence_seconds() const { return silence_seconds_; }

 private:
  void Start(double now);
  void Dispatch(const Event& event);
  void OnReport(const Report& report);
  void OnFailure(const Failure& failure);
  // A worker that has not answered for silence_seconds_ and for 100 times as long as its task
  // should take; before its speed is known, for 10 times silence_seconds_. A worker that copies
  // into a snapshot may wait for a disk and is left alone.
  struct Silence {
    TaskId task = 0;  // the oldest one
    WorkerId worker = 0;
    double since = 0;
    double ends = 0;  // when the worker is given up
  };
  std::optional<Silence> NextSilence() const;
  void CheckSilence();
  void SendTasks();
  void EndJobs();
  std::optional<Task> NextTask(const WorkerState& worker);
  std::optional<Task> ScheduledTask(const WorkerState& worker);
  std::optional<Task> TaskOf(JobRun& job, const WorkerState& worker);
  void FindCandidates(const WorkerState& worker);
  bool HasRoom(const JobRun& job, const WorkerState& worker) const;

  Scheduler* scheduler_ = nullptr;  // null: the run has one job
  double silence_seconds_;
  bool stays_open_ = false;
  bool saves_ended_ = false;
  bool started_ = false;
  RunContext run_;
  TasksInFlight tasks_;
  IndexedVector<JobId, std::unique_ptr<JobRun>> jobs_;
  std::vector<JobRun*> open_;         // those that have not left, in the order of ids
  std::vector<JobState> candidates_;  // for the worker that is being asked for
  bool again_ = false;                // a worker that was passed over may have something to do now
};

}  // namespace hogbatch
