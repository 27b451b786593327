// How far the coordinator is with a checkpoint.
//
// A checkpoint is a moment without a row in flight, so every row is either in the model or still to
// come: no new training task is sent until all workers are idle, then each worker copies what it
// keeps between tasks, then the caller takes the state of the coordinator. A task takes about 20
// ms, so that workers lose about as much.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "messaging/messages.h"
#include "runtime/control/algorithm.h"

namespace hogbatch {

class CheckpointPhase {
 public:
  void Request() {
    if (phase_ == Phase::kNone) phase_ = Phase::kWanted;
  }
  // Workers run dry.
  bool wanted() const { return phase_ == Phase::kWanted; }
  bool saving() const { return phase_ == Phase::kSaving; }
  // All is copied. The next event ends the checkpoint.
  bool ready() const { return phase_ == Phase::kReady; }

  // All workers are idle: makes a kSave task for each live one.
  void BeginSaving(std::span<const WorkerState> workers);
  // The task that waits for `worker`.
  std::optional<Task> Next(WorkerId worker);
  // A kSave task came back.
  void OnSaved();

  // The caller has taken the checkpoint, or there is none this time.
  void End() { *this = {}; }

 private:
  enum class Phase : std::uint8_t { kNone, kWanted, kSaving, kReady };

  Phase phase_ = Phase::kNone;
  std::vector<Task> waiting_;
  int open_ = 0;  // tasks that are not done
};

}  // namespace hogbatch
