#include "training/queue/queue.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "training/job_parts.h"
#include "training/memory_check.h"

namespace hogbatch {
namespace {

Coordinator::QueueSetup SetupOf(const Devices& devices, const QueueOptions& options) {
  return {
      .workers = InfosOf(devices.chosen), .stays_open = options.stays_open, .saves_ended = true};
}

// An exclusive job was planned for one device, and any other of its kind may take it.
template <typename T>
std::vector<T> ForAllDevices(const std::vector<T>& planned, const TrainingPlan& plan,
                             const std::vector<DeviceChoice>& devices, Sharing sharing) {
  if (sharing != Sharing::kExclusive || planned.empty()) return planned;
  const DeviceKind kind = plan.work.devices.front().info.kind;
  std::vector<T> all;
  for (const DeviceChoice& device : devices) {
    all.push_back(device.info.kind == kind ? planned.front() : T{});
  }
  return all;
}

}  // namespace

TrainingPlan PlanInQueue(const TrainingSpec& spec, const TrainingInput& input,
                         const Devices& devices, const SchedulerInfo& scheduler, Sharing sharing,
                         TrainingObserver& observer, const TrialPlacement& placement) {
  TrainingSpec chosen = spec;
  chosen.algorithm = ChooseAlgorithmInQueue(spec.algorithm, scheduler, sharing).name;
  if (sharing != Sharing::kExclusive) return Plan(chosen, input, devices, observer);
  Devices one = devices;
  const auto is_core = [](const DeviceChoice& device) {
    return device.info.kind == DeviceKind::kCpu;
  };
  const auto core = std::ranges::find_if(devices.chosen, is_core);
  one.chosen = {core == devices.chosen.end() ? devices.chosen.front() : *core};
  return Plan(chosen, input, one, observer, placement);
}

Queue::Queue(const Devices& devices, const QueueOptions& options, QueueObserver& observer)
    : devices_(devices.chosen),
      options_(options),
      observer_(observer),
      scheduler_(MakeScheduler(options.scheduler, options.scheduling)),
      coordinator_(*scheduler_, SetupOf(devices, options)) {}

Queue::~Queue() = default;

JobId Queue::Add(QueuedJob queued) {
  auto entry = std::make_unique<Entry>();
  entry->job = std::move(queued);
  const QueuedJob& job = entry->job;
  const bool is_exclusive = job.sharing.workers == Sharing::kExclusive;
  if (job.resume) CheckSameNetwork(*job.resume, job.plan);
  entry->memory = MakeMemory(job.plan, *job.input, static_cast<int>(devices_.size()));
  entry->memory->is_exclusive = is_exclusive;

  JobSetup setup = MakeJobSetup(job.plan, *job.input);
  setup.job.most_workers = is_exclusive ? 1 : 0;
  if (is_exclusive) setup.job.kind = job.plan.work.devices.front().info.kind;
  setup.job.priority = job.sharing.priority;
  setup.job.arrives = job.sharing.arrives;
  const auto for_all = [&](const std::vector<std::int64_t>& planned) {
    return IndexedVector<WorkerId, std::int64_t>(
        ForAllDevices(planned, job.plan, devices_, job.sharing.workers));
  };
  setup.max_batch_size = for_all(job.plan.max_batch_sizes);
  setup.device_bytes =
      for_all(DeviceBytesOf(job.plan.work, job.input->training.data, job.plan.max_batch_sizes));
  const JobId next = entries_.size();
  entry->warner = std::make_unique<WarningObserver>(
      [this, next](std::string_view sentence) { observer_.OnJobWarning(next, sentence); });
  if (job.keep) {
    entry->keeper = std::make_unique<RunKeeper>(*job.keep, job.plan, *job.input, *entry->memory,
                                                *entry->warner, job.resume.get());
  }
  const JobId id = coordinator_.Add(setup);
  entries_.push_back(std::move(entry));
  Entry& added = this->entry(id);
  memories_.Add(id, added.memory);
  try {
    if (job.resume) {
      RestoreJob(*job.resume, coordinator_.job(id), InfosOf(devices_), *added.memory);
    }
  } catch (...) {
    coordinator_.job(id).Interrupt();  // it ends before it begins
    added.is_open = false;
    throw;
  }
  return id;
}

std::vector<WorkerFactory> Queue::Workers() {
  std::vector<WorkerFactory> workers;
  for (const DeviceChoice& device : devices_) {
    const auto id = static_cast<WorkerId>(workers.size());
    workers.push_back([this, id, &device] { return MakeJobRouter(id, device.make(), memories_); });
  }
  return workers;
}

void Queue::Run(const StopRequested& stop_requested) {
  executor_ = MakeThreadExecutor(Workers(), options_.pinning, stop_requested);
  executor_->Run(coordinator_, *this, this);
  for (const JobId job : std::exchange(ended_, {})) {
    if (entry(job).keeper) entry(job).keeper->AwaitTaken();
    Conclude(job);
  }
}

// All files of the job but the last are written.
void Queue::Conclude(JobId job) {
  Entry& ended = entry(job);
  if (!ended.is_open) return;
  const TrainedModel trained =
      FinishJob(coordinator_.job(job), ended.job.plan, *ended.job.input, *ended.memory);
  observer_.OnJobEnded(job, trained, TimesOf(job));
  memories_.Remove(job);
  ended.is_open = false;
  ended.keeper.reset();
  ended.memory.reset();
  ended.job.input.reset();
  ended.job.resume.reset();
}

JobTimes Queue::TimesOf(JobId id) const {
  const JobRun& job = coordinator_.job(id);
  JobTimes times{.arrived = job.arrived_at(), .ended = job.ended_at()};
  if (job.has_begun()) times.began = job.began_at();
  for (const WorkerState& worker : job.workers()) times.service.push_back(worker.busy_seconds);
  return times;
}

void Queue::OnPreparation(std::string_view worker, double seconds) {
  observer_.OnPreparation(worker, seconds);
}

void Queue::OnProgress(const Progress& progress) {
  Entry& reported = entry(progress.job);
  if (reported.keeper && progress.best && progress.updates > 0) {
    reported.keeper->SaveBest(*coordinator_.job(progress.job).saved_snapshot());
  }
  observer_.OnProgress(progress.job, progress);
}

void Queue::OnWorkerFailed(std::string_view worker, std::string_view what) {
  observer_.OnWorkerFailed(worker, what);
}

void Queue::OnJobBegan(JobId job) { observer_.OnJobBegan(job); }

void Queue::OnJobWarning(JobId job, std::string_view sentence) {
  observer_.OnJobWarning(job, sentence);
}

std::optional<Event> Queue::NextEvent(const Coordinator& coordinator, double now) {
  observer_.OnPoll();
  std::erase_if(ended_, [&](JobId job) {
    if (entry(job).keeper && !entry(job).keeper->CanTake()) return false;
    Conclude(job);
    return true;
  });
  if (!cancelled_.empty()) {
    const JobId job = cancelled_.back();
    cancelled_.pop_back();
    return Interrupt{.job = job};
  }
  for (const JobId id : entries_.ids()) {
    Entry& kept = entry(id);
    const JobRun& job = coordinator.job(id);
    if (!kept.is_open || !job.has_begun() || job.has_ended() || job.checkpoint_pending()) continue;
    // Without a keeper the request is what lets the job end.
    const bool wanted = job.awaits_last_checkpoint() ? !kept.keeper || kept.keeper->CanTake()
                                                     : kept.keeper && kept.keeper->IsDue(now);
    if (wanted) return CheckpointRequest{.job = id};
  }
  return std::nullopt;
}

void Queue::Take(JobRun& job) {
  if (entry(job.id()).keeper) entry(job.id()).keeper->Take(job);
}

}  // namespace hogbatch
