#include "runtime/control/sync_round.h"

#include <algorithm>
#include <utility>

namespace hogbatch {

void SyncRound::OnGradient(std::int64_t rows) {
  --awaited_;
  rows_ += rows;
}

void SyncRound::MakeSlices(const Task& apply, std::span<const WorkerState> workers) {
  for (const WorkerState& worker : workers) {
    if (!worker.live) continue;
    Task slice = apply;
    slice.worker = worker.id;
    slice.slice = open_slices_++;
    waiting_.push_back(slice);
  }
  for (Task& slice : waiting_) slice.slices = open_slices_;
}

std::optional<Task> SyncRound::NextSlice(WorkerId worker) {
  const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](const Task& task) { return task.worker == worker; });
  if (found == waiting_.end()) return std::nullopt;
  Task slice = *found;
  waiting_.erase(found);
  slice.id = 0;
  return slice;
}

bool SyncRound::OnApplied() {
  if (--open_slices_ > 0) return false;
  rows_ = 0;
  ++number_;
  return true;
}

void SyncRound::Reassign(WorkerId failed, WorkerId successor) {
  for (Task& slice : waiting_) {
    if (slice.worker == failed) slice.worker = successor;
  }
}

std::int64_t SyncRound::Abandon() { return std::exchange(rows_, 0); }

}  // namespace hogbatch
