#include "runtime/control/pause_phase.h"

#include <algorithm>

namespace hogbatch {

void PausePhase::Begin(std::span<const WorkerState> workers) {
  phase_ = Phase::kUnderWay;
  for (const WorkerState& worker : workers) {
    if (!worker.live) continue;
    waiting_.push_back({.worker = worker.id, .kind = kind_, .rows = {}, .slice = open_++});
  }
}

std::optional<Task> PausePhase::Next(WorkerId worker) {
  const auto found = std::ranges::find(waiting_, worker, &Task::worker);
  if (found == waiting_.end()) return std::nullopt;
  const Task task = *found;
  waiting_.erase(found);
  return task;
}

void PausePhase::OnDone() {
  if (phase_ == Phase::kUnderWay && --open_ == 0) phase_ = Phase::kReady;
}

}  // namespace hogbatch
