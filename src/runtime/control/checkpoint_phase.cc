#include "runtime/control/checkpoint_phase.h"

#include <algorithm>

namespace hogbatch {

void CheckpointPhase::BeginSaving(std::span<const WorkerState> workers) {
  phase_ = Phase::kSaving;
  for (const WorkerState& worker : workers) {
    if (!worker.live) continue;
    waiting_.push_back(
        {.worker = worker.id, .kind = TaskKind::kSave, .rows = {}, .slice = open_++});
  }
}

std::optional<Task> CheckpointPhase::Next(WorkerId worker) {
  const auto found = std::ranges::find(waiting_, worker, &Task::worker);
  if (found == waiting_.end()) return std::nullopt;
  const Task task = *found;
  waiting_.erase(found);
  return task;
}

void CheckpointPhase::OnSaved() {
  if (phase_ == Phase::kSaving && --open_ == 0) phase_ = Phase::kReady;
}

}  // namespace hogbatch
