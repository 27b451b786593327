#include "runtime/executors/task_pipeline.h"

#include <algorithm>
#include <utility>

#include "core/clock.h"

namespace hogbatch {

void TaskPipeline::Run(const Task& task) {
  const bool overlaps = depth_ > 1 && task.kind == TaskKind::kTrain && !task.hold;
  const double begun = SteadySeconds();
  for (int merge = 0; merge < task.merges; ++merge) {
    if (!overlaps) CommitPending();
    active_ = MergeInFlight{task, merge, begun};
    worker_.Compute(task, merge);
    CommitPending();
    pending_ = std::exchange(active_, std::nullopt);
    if (!overlaps) CommitPending();
  }
}

void TaskPipeline::CommitPending() {
  if (!pending_) return;
  const std::optional<MergeInFlight> computed = std::exchange(active_, pending_);
  worker_.Commit(pending_->task, pending_->merge);
  active_ = computed;
  // The merge counts as done from here on, even if Finish fails.
  if (++pending_->merge == pending_->task.merges) FinishTask(*pending_);
  pending_.reset();
}

// Tasks that overlap share time; each second is charged to one of them.
void TaskPipeline::FinishTask(const MergeInFlight& last) {
  Report report = worker_.Finish(last.task);
  const double now = SteadySeconds();
  report.seconds = now - std::max(last.task_begun, reported_at_);
  reported_at_ = now;
  on_report_(last.task, report, now);
}

Failure TaskPipeline::MakeFailure(WorkerId worker, std::string what) const {
  Failure failure{.worker = worker, .what = std::move(what)};
  if (const std::optional<MergeInFlight>& oldest = pending_ ? pending_ : active_) {
    failure.task = oldest->task.id;
    failure.merges_done = oldest->merge;
  }
  if (active_ && worker_.merge_is_torn()) {
    failure.torn = {.task = active_->task.id, .merge = active_->merge};
  }
  return failure;
}

}  // namespace hogbatch
