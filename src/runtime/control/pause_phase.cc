#include "runtime/control/pause_phase.h"

#include <algorithm>
#include <utility>

namespace hogbatch {

void PausePhase::Begin(const std::vector<WorkerId>& workers) {
  phase_ = workers.empty() ? Phase::kReady : Phase::kUnderWay;
  for (const WorkerId worker : workers) {
    waiting_.push_back({.worker = worker, .kind = kind_, .rows = {}, .slice = open_++});
  }
}

std::optional<Task> PausePhase::Next(WorkerId worker) {
  const auto found = std::ranges::find(waiting_, worker, &Task::worker);
  if (found == waiting_.end()) return std::nullopt;
  Task task = std::move(*found);
  waiting_.erase(found);
  return task;
}

void PausePhase::OnDone() {
  if (phase_ == Phase::kUnderWay && --open_ == 0) phase_ = Phase::kReady;
}

void PausePhase::Forget(WorkerId worker) {
  if (Next(worker)) OnDone();
}

}  // namespace hogbatch
