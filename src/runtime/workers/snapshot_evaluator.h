// Losses and metrics of snapshots of the model, on any device.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/evaluation.h"
#include "messaging/messages.h"
#include "nn/metrics.h"
#include "runtime/batches/forward_pass.h"
#include "runtime/store/job_memory.h"

namespace hogbatch {

// Allocates device memory at its first use, and keeps the last snapshot there.
class SnapshotEvaluator {
 public:
  SnapshotEvaluator(Device& device, const JobMemory& memory) : device_(device), memory_(memory) {}

  // Runs a kEvaluate task to its end: the sums of each lane. Nothing else may be queued.
  std::vector<EvaluationSums> Evaluate(const Task& task);

 private:
  void UseSnapshot(SnapshotId id);
  EvaluationSums EvaluateLane(std::int64_t lane, std::span<const float> outputs,
                              const HostTargets& targets);

  Device& device_;
  const JobMemory& memory_;
  std::optional<ForwardPass> pass_;
  SnapshotId snapshot_ = -1;
  std::int64_t version_ = -1;
  std::vector<float> lane_outputs_;
};

}  // namespace hogbatch
