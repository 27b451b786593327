// Trains many jobs in one run, on the same devices.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/schedulers/schedulers.h"
#include "runtime/control/coordinator.h"
#include "runtime/executors/executor.h"
#include "runtime/store/job_memories.h"
#include "training/checkpoint/checkpoint_file.h"
#include "training/checkpoint/run_keeper.h"
#include "training/input.h"
#include "training/plan.h"
#include "training/train.h"

namespace hogbatch {

// How a job shares the devices with others.
struct JobSharing {
  Sharing workers = Sharing::kAnyWorkers;
  int priority = 0;
  double arrives = 0;  // seconds after the run began
};

// The plan of a job of a queue on `devices`. "auto" as algorithm means hogbatch. An exclusive job
// trains on one kind of device: on cores, if there are any. UserError as for Plan, and for what the
// scheduler forbids.
TrainingPlan PlanInQueue(const TrainingSpec& spec, const TrainingInput& input,
                         const Devices& devices, const SchedulerInfo& scheduler, Sharing sharing,
                         TrainingObserver& observer, const TrialPlacement& placement = {});

struct QueuedJob {
  TrainingPlan plan;                           // of PlanInQueue
  std::shared_ptr<const TrainingInput> input;  // several jobs may share one
  JobSharing sharing = {};
  std::optional<KeepOptions> keep = {};           // as in TrainControls
  std::shared_ptr<const Checkpoint> resume = {};  // likewise
};

// When things happened, in seconds after the run began.
struct JobTimes {
  double arrived = 0;
  std::optional<double> began = {};  // none: it never had a worker
  double ended = 0;
  std::vector<double> service = {};  // that each device of the queue spent on it
};

// Called on the thread of Queue::Run; must not take long.
class QueueObserver {
 public:
  virtual ~QueueObserver() = default;
  virtual void OnPreparation(std::string_view /*worker*/, double /*seconds*/) {}
  virtual void OnJobBegan(JobId job) = 0;
  virtual void OnProgress(JobId job, const Progress& progress) = 0;
  virtual void OnJobWarning(JobId job, std::string_view sentence) = 0;
  virtual void OnJobEnded(JobId job, const TrainedModel& trained, const JobTimes& times) = 0;
  virtual void OnWorkerFailed(std::string_view worker, std::string_view what) = 0;
  // Between events, about ten times a second or more often. It may call Queue::Add and Cancel.
  virtual void OnPoll() {}
};

struct QueueOptions {
  std::string scheduler = std::string(DefaultScheduler().name);
  SchedulerOptions scheduling = {};
  Pinning pinning = Pinning::kCores;
  bool stays_open = false;  // when all jobs have ended, more may be added, until it is stopped
};

class Queue final : private RunObserver, private CheckpointKeeper {
 public:
  // The observer outlives it.
  Queue(const Devices& devices, const QueueOptions& options, QueueObserver& observer);
  ~Queue() override;

  // Before Run, or in QueueObserver::OnPoll. UserError for a checkpoint of another network, or a
  // damaged one; the queue goes on without the job.
  JobId Add(QueuedJob job);
  // The job stops soon, and its model is evaluated.
  void Cancel(JobId job) { cancelled_.push_back(job); }

  // Returns when all jobs have ended, or soon after `stop_requested` returned true.
  void Run(const StopRequested& stop_requested = {});
  // After Run: a worker hangs, and its thread still uses this queue, so it must never be freed. The
  // end of the process is fine.
  bool has_hanging_worker() const { return executor_ && executor_->has_hanging_worker(); }

  // What a job has had so far.
  JobTimes TimesOf(JobId job) const;
  StopReason ReasonOf(JobId job) const { return coordinator_.job(job).reason(); }

 private:
  struct Entry {
    QueuedJob job;
    std::shared_ptr<JobMemory> memory;
    std::unique_ptr<WarningObserver> warner;  // tells what the keeper cannot write
    std::unique_ptr<RunKeeper> keeper;        // null: nothing is kept
    bool is_open = true;                      // its end was not reported yet
  };

  Entry& entry(JobId job) { return *entries_[job]; }
  std::vector<WorkerFactory> Workers();
  void Conclude(JobId job);

  // RunObserver
  void OnPreparation(std::string_view worker, double seconds) override;
  void OnProgress(const Progress& progress) override;
  void OnWorkerFailed(std::string_view worker, std::string_view what) override;
  void OnJobBegan(JobId job) override;
  void OnJobWarning(JobId job, std::string_view sentence) override;
  void OnJobEnded(JobId job) override { ended_.push_back(job); }

  // CheckpointKeeper
  bool IsDue(double) override { return false; }
  std::optional<Event> NextEvent(const Coordinator& coordinator, double now) override;
  void Take(JobRun& job) override;

  std::vector<DeviceChoice> devices_;
  QueueOptions options_;
  QueueObserver& observer_;
  std::unique_ptr<Scheduler> scheduler_;
  JobMemories memories_;
  Coordinator coordinator_;
  IndexedVector<JobId, std::unique_ptr<Entry>> entries_;
  std::vector<JobId> cancelled_;
  std::vector<JobId> ended_;  // and not concluded: a file of it is still being written
  std::unique_ptr<Executor> executor_;
};

}  // namespace hogbatch
