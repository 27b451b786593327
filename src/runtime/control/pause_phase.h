// A moment without a row in flight, in which every worker does one task: it copies what it keeps
// into a checkpoint, or goes back to the last good model.
//
// No new training task is sent until all workers are idle, then each gets its task. A training task
// takes about 20 ms, so that workers lose about as much.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "messaging/messages.h"

namespace hogbatch {

class PausePhase {
 public:
  // `kind`: of the task that each worker does.
  explicit PausePhase(TaskKind kind) : kind_(kind) {}

  void Request() {
    if (phase_ == Phase::kNone) phase_ = Phase::kWanted;
  }
  // It was requested, and End was not called since.
  bool active() const { return phase_ != Phase::kNone; }
  // Workers finish the tasks that they have.
  bool wanted() const { return phase_ == Phase::kWanted; }
  // Workers have or get their tasks.
  bool under_way() const { return phase_ == Phase::kUnderWay; }
  // All workers have done their tasks.
  bool ready() const { return phase_ == Phase::kReady; }

  // All workers are idle: makes a task for each of `workers`.
  void Begin(const std::vector<WorkerId>& workers);
  // The task that waits for `worker`.
  std::optional<Task> Next(WorkerId worker);
  // A task of this kind came back.
  void OnDone();
  // The worker failed: its task, if it waits, is not sent any more.
  void Forget(WorkerId worker);

  // It is over, or given up.
  void End() { *this = PausePhase(kind_); }

 private:
  enum class Phase : std::uint8_t { kNone, kWanted, kUnderWay, kReady };

  TaskKind kind_;
  Phase phase_ = Phase::kNone;
  std::vector<Task> waiting_;
  int open_ = 0;  // tasks that are not done
};

}  // namespace hogbatch
