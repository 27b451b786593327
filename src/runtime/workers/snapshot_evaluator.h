// Losses and metrics of snapshots of the model, on any device.
#pragma once

#include <cstdint>
#include <optional>

#include "core/evaluation.h"
#include "messaging/messages.h"
#include "runtime/batches/forward_pass.h"
#include "runtime/store/job_memory.h"

namespace hogbatch {

// Allocates device memory at its first use, and keeps the last snapshot there.
class SnapshotEvaluator {
 public:
  SnapshotEvaluator(Device& device, const JobMemory& memory) : device_(device), memory_(memory) {}

  // Runs a kEvaluate task to its end. Nothing else may be queued.
  EvaluationSums Evaluate(const Task& task);

 private:
  void UseSnapshot(SnapshotId id);

  Device& device_;
  const JobMemory& memory_;
  std::optional<ForwardPass> pass_;
  SnapshotId snapshot_ = -1;
  std::int64_t version_ = -1;
};

}  // namespace hogbatch
