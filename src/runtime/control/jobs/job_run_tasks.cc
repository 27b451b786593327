// What a job hands out.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "runtime/control/jobs/job_run.h"

namespace hogbatch {

bool JobRun::IsUsable(const WorkerState& worker) const {
  return worker.live && worker.max_batch_size != kDoesNotFit &&
         (!spec().kind || *spec().kind == worker.device.kind);
}

bool JobRun::MayServe(WorkerId id) const {
  const WorkerState& worker = workers()[id];
  if (!IsUsable(worker) || !has_arrived() || release_.under_way()) return false;
  const int most = spec().most_workers;
  return most == 0 || worker.outstanding > 0 || workers_.busy() < most;
}

void JobRun::WarnAboutMemory(WorkerId worker) {
  if (std::exchange(warned_about_memory_, true)) return;
  run_.actions.warnings.push_back(
      {id(), fmt::format("it waits for memory on {}: beside the other jobs there is too little",
                         workers()[worker].device.name)});
}

bool JobRun::awaits_round() const {
  return spec().synchronous && reason_ == StopReason::kNone && job_.state().remaining_rows > 0;
}

std::optional<Task> JobRun::OwnTask(WorkerId worker) {
  std::optional<Task> task = OwnTaskOf(worker);
  if (task) task->job = id();
  return task;
}

std::optional<Task> JobRun::OwnTaskOf(WorkerId worker) {
  if (release_.under_way()) return release_.Next(worker);
  if (checkpoint_.under_way()) return checkpoint_.Next(worker);
  if (rollback_.active()) {
    std::optional<Task> task = rollback_.Next(worker);
    if (task) task->snapshot = evaluations_.best_snapshot();
    return task;
  }
  return job_.round().NextSlice(worker);
}

std::optional<Task> JobRun::NextTask(WorkerId id) {
  if (std::optional<Task> task = OwnTask(id)) return task;
  if (checkpoint_.under_way() || checkpoint_.ready() || rollback_.active()) return std::nullopt;
  std::optional<Task> task = SharedTask(workers()[id]);
  if (!task) return task;
  task->job = spec().id;
  visited_[id] = true;
  if (spec().exclusive()) owner_ = id;
  return task;
}

std::optional<Task> JobRun::SharedTask(const WorkerState& worker) {
  if (MayEvaluateNow(worker)) {
    if (auto task = evaluations_.Next()) return task;
  }
  const bool sequential = spec().exclusive() && evaluations_.under_way();
  if (reason_ == StopReason::kNone && !job_.round().applying() && !is_draining() && !sequential) {
    if (auto task = NextTrainingTask(worker)) return task;
  }
  return evaluations_.Next();
}

// Half of the workers may evaluate while the others go on training. In synchronous training the
// choice must not depend on speed, since it decides which worker trains which rows.
bool JobRun::MayEvaluateNow(const WorkerState& worker) const {
  if (workers_.evaluating() >= std::max(1, workers_.live() / 2)) return false;
  return spec().synchronous || workers_.IsFastEnoughToEvaluate(worker);
}

std::optional<Task> JobRun::NextTrainingTask(const WorkerState& worker) {
  const bool exclusive = spec().exclusive();
  const std::int64_t most_rows =
      exclusive ? RowsToEvaluation() : std::numeric_limits<std::int64_t>::max();
  if (most_rows <= 0) return std::nullopt;
  const JobState job = job_.state();
  const JobTable table{.jobs = {&job, 1}, .workers = workers()};
  std::optional<Assignment> assignment = algorithm_->Assign(worker, table);
  if (!assignment) return std::nullopt;
  if (worker.max_batch_size > 0) {
    assignment->batch_size = std::min(assignment->batch_size, worker.max_batch_size);
  }
  const std::int32_t updates = spec().synchronous
                                   ? 1
                                   : UpdatesPerTask({.worker = worker,
                                                     .batch_size = assignment->batch_size,
                                                     .task_seconds = task_seconds_},
                                                    table);
  std::optional<Task> task = job_.NextTask(
      run_.next_id, {.assignment = *assignment,
                     .updates = updates,
                     .merge_rows = MergeRows(worker),
                     .staleness = exclusive ? 0 : workers_.StalenessInUpdates(worker, job_.rates()),
                     .most_rows = most_rows});
  if (!task) return task;
  ++run_.next_id;
  if (lanes_) {
    const std::int64_t rows = task->rows.size() / task->merges / task->updates_per_merge;
    task->lane_rates = lanes_->RatesAt(task->rate_epoch, rows);
  }
  return task;
}

// A worker that trains in the shared weights merges every update by itself.
std::int64_t JobRun::MergeRows(const WorkerState& worker) const {
  if (worker.device.shares_host_memory) return 1;
  return worker.max_batch_size > 0 ? std::min(merge_rows_, worker.max_batch_size) : merge_rows_;
}

}  // namespace hogbatch
