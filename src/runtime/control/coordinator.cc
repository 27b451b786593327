#include "runtime/control/coordinator.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/error.h"

namespace hogbatch {
namespace {

// A worker is given up if it takes this many times as long as expected.
constexpr double kSilenceFactor = 100;

std::vector<DeviceInfo> DevicesOf(const IndexedVector<WorkerId, WorkerState>& workers) {
  std::vector<DeviceInfo> devices;
  for (const WorkerState& worker : workers) devices.push_back(worker.device);
  return devices;
}

}  // namespace

Coordinator::Coordinator(const JobSetup& job, const std::vector<DeviceInfo>& workers,
                         double silence_seconds)
    : silence_seconds_(silence_seconds), tasks_(workers) {
  Add(job);
}

Coordinator::Coordinator(Scheduler& scheduler, const QueueSetup& setup)
    : scheduler_(&scheduler),
      silence_seconds_(setup.silence_seconds),
      stays_open_(setup.stays_open),
      saves_ended_(setup.saves_ended),
      tasks_(setup.workers) {}

JobId Coordinator::Add(const JobSetup& setup) {
  JobSetup named = setup;
  named.job.id = jobs_.size();
  jobs_.push_back(std::make_unique<JobRun>(named, DevicesOf(workers()), run_));
  JobRun& job = this->job(named.job.id);
  for (const WorkerState& worker : workers()) {
    if (!worker.live) job.OnFailure({.worker = worker.id, .what = "it failed before"}, {});
  }
  job.CheckWorkers();
  open_.push_back(&job);
  return job.id();
}

void Coordinator::Start(double now) {
  run_.start = run_.now = now;
  if (!scheduler_) job(0).Begin();
}

const Coordinator::Actions& Coordinator::Handle(const Event& event, double now) {
  if (!std::exchange(started_, true)) Start(now);
  run_.now = now;
  run_.actions.tasks.clear();
  run_.actions.reports.clear();
  run_.actions.failures.clear();
  run_.actions.warnings.clear();
  run_.actions.began.clear();
  run_.actions.ended.clear();
  for (JobRun* const job : open_) job->BeginEvent();
  Dispatch(event);
  CheckSilence();
  for (JobRun* const job : open_) job->Check();
  SendTasks();
  for (JobRun* const job : open_) job->ReportIfDue();
  return run_.actions;
}

void Coordinator::Dispatch(const Event& event) {
  if (const auto* report = std::get_if<Report>(&event)) {
    OnReport(*report);
  } else if (const auto* failure = std::get_if<Failure>(&event)) {
    OnFailure(*failure);
  } else if (const auto* interrupt = std::get_if<Interrupt>(&event)) {
    if (!interrupt->job) stays_open_ = false;
    for (JobRun* const job : open_) {
      if (interrupt->job.value_or(job->id()) == job->id()) job->Interrupt();
    }
  } else if (std::holds_alternative<ProcessContinued>(event)) {
    tasks_.ForgiveSilence(run_.now);
  } else if (const auto* request = std::get_if<CheckpointRequest>(&event)) {
    for (JobRun* const job : open_) {
      const bool wanted = request->job.value_or(job->id()) == job->id();
      if (wanted && job->has_begun()) job->RequestCheckpoint();
    }
  }
}

void Coordinator::OnReport(const Report& report) {
  if (!workers()[report.worker].live) return;  // it was given up, and answers now
  const Task task = tasks_.Take(report, run_.now);
  if (report.failure) return job(task.job).OnRefused(task, report);
  job(task.job).OnReport(task, report);
}

void Coordinator::OnFailure(const Failure& failure) {
  if (!workers()[failure.worker].live) return;
  run_.actions.failures.push_back(failure);
  const std::vector<Task> tasks = tasks_.Fail(failure.worker);
  for (JobRun* const job : open_) job->OnFailure(failure, tasks);
}

std::optional<Coordinator::Silence> Coordinator::NextSilence() const {
  std::optional<Silence> next;
  for (const WorkerState& worker : workers()) {
    const Task* const task = tasks_.Oldest(worker.id);
    if (!task || task->kind == TaskKind::kSnapshot || task->kind == TaskKind::kKeepLanes) continue;
    const double per_row = job(task->job).workers()[worker.id].seconds_per_row;
    const double expected = per_row * static_cast<double>(task->rows.size());
    const double since = tasks_.silent_since(worker.id);
    const double allowed =
        per_row > 0 ? std::max(silence_seconds_, kSilenceFactor * expected) : 10 * silence_seconds_;
    if (next && next->ends <= since + allowed) continue;
    next = {.task = task->id, .worker = worker.id, .since = since, .ends = since + allowed};
  }
  return next;
}

void Coordinator::CheckSilence() {
  while (const auto silence = NextSilence()) {
    if (run_.now < silence->ends) return;
    OnFailure({.worker = silence->worker,
               .what = fmt::format("it has not answered for {:.0f} s and is given up",
                                   run_.now - silence->since),
               .task = silence->task,
               .torn = {},
               .hangs = true});
  }
}

void Coordinator::SendTasks() {
  do {
    again_ = false;
    if (scheduler_) EndJobs();
    for (const WorkerState& worker : workers()) {
      while (worker.live && worker.outstanding < worker.device.depth) {
        std::optional<Task> task = NextTask(worker);
        if (!task) break;
        task->worker = worker.id;
        if (task->id == 0) task->id = run_.next_id++;
        tasks_.Send(*task, run_.now);
        job(task->job).OnSent(*task);
        run_.actions.tasks.push_back(*task);
      }
    }
  } while (again_);
}

// A job that is done leaves its workers, and then the run.
void Coordinator::EndJobs() {
  std::erase_if(open_, [&](JobRun* job) {
    if (job->has_ended()) return !job->releasing() && job->tasks_in_flight() == 0;
    if (!job->done() || job->checkpoint_pending() || job->checkpoint_ready()) return false;
    if (saves_ended_ && job->awaits_last_checkpoint()) return false;
    job->End();
    run_.actions.ended.push_back(job->id());
    return !job->releasing();
  });
}

std::optional<Task> Coordinator::NextTask(const WorkerState& worker) {
  return scheduler_ ? ScheduledTask(worker) : job(0).NextTask(worker.id);
}

std::optional<Task> Coordinator::ScheduledTask(const WorkerState& worker) {
  for (JobRun* const job : open_) {
    if (std::optional<Task> task = job->OwnTask(worker.id)) return task;
  }
  FindCandidates(worker);
  while (!candidates_.empty()) {
    const std::optional<JobId> chosen =
        scheduler_->Choose(worker, {.jobs = candidates_, .workers = workers()});
    if (!chosen) return std::nullopt;
    JobRun& chosen_job = job(*chosen);
    if (std::optional<Task> task = TaskOf(chosen_job, worker)) return task;
    if (chosen_job.awaits_round()) return std::nullopt;
    const auto erased = std::erase_if(
        candidates_, [&](const JobState& candidate) { return candidate.id == *chosen; });
    Check(erased == 1, "a scheduler chooses one of the jobs that it is given");
  }
  return std::nullopt;
}

std::optional<Task> Coordinator::TaskOf(JobRun& job, const WorkerState& worker) {
  const int others = tasks_.count() - job.tasks_in_flight();
  if (job.awaits_round() && !job.in_round() && others > 0) return std::nullopt;
  if (!job.has_begun()) {
    job.Begin();
    run_.actions.began.push_back(job.id());
    job.Check();
    again_ = again_ || job.done();  // there is nothing to train
  }
  if (!job.belongs_to_another(worker.id)) return job.NextTask(worker.id);
  if (job.CanMove()) {
    job.Release();
    again_ = true;
  }
  return std::nullopt;
}

// A round of synchronous training has all workers to itself, and one job at a time trains in
// rounds.
void Coordinator::FindCandidates(const WorkerState& worker) {
  candidates_.clear();
  const JobRun* in_round = nullptr;
  const JobRun* synchronous = nullptr;  // the one that has begun
  for (const JobRun* const job : open_) {
    if (job->in_round()) in_round = job;
    if (job->spec().synchronous && job->has_begun() && !job->has_ended()) synchronous = job;
  }
  for (JobRun* const job : open_) {
    if (in_round && job != in_round) continue;
    if (job->spec().synchronous && synchronous && job != synchronous) continue;
    if (job->has_ended() || !job->MayServe(worker.id)) continue;
    if (HasRoom(*job, worker)) {
      candidates_.push_back(job->state());
    } else {
      job->WarnAboutMemory(worker.id);
    }
  }
}

// Jobs keep the memory of a device from their first task there until they release it.
bool Coordinator::HasRoom(const JobRun& job, const WorkerState& worker) const {
  const std::int64_t wanted = job.device_bytes(worker.id);
  if (wanted == 0 || worker.device.memory_bytes == 0 || job.has_visited(worker.id)) return true;
  std::int64_t taken = 0;
  for (const JobRun* const other : open_) {
    if (other->has_visited(worker.id) || other->releasing())
      taken += other->device_bytes(worker.id);
  }
  return taken == 0 || taken + wanted <= worker.device.memory_bytes;
}

bool Coordinator::done() const {
  if (!scheduler_) return job(0).done();
  return started_ && open_.empty() && !stays_open_;
}

double Coordinator::next_tick() const {
  double next = std::numeric_limits<double>::infinity();
  for (const JobRun* const job : open_) next = std::min(next, job->next_tick());
  if (const auto silence = NextSilence()) next = std::min(next, silence->ends);
  return next;
}

std::vector<JobId> Coordinator::ready_checkpoints() const {
  std::vector<JobId> ready;
  for (const JobRun* const job : open_) {
    if (job->checkpoint_ready()) ready.push_back(job->id());
  }
  return ready;
}

bool Coordinator::checkpoint_pending() const {
  return std::ranges::any_of(open_, [](const JobRun* job) { return job->checkpoint_pending(); });
}

}  // namespace hogbatch
