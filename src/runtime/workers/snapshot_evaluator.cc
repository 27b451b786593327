#include "runtime/workers/snapshot_evaluator.h"

#include <algorithm>

#include "nn/metrics.h"
#include "runtime/batches/batch.h"

namespace hogbatch {

std::vector<EvaluationSums> SnapshotEvaluator::Evaluate(const Task& task) {
  UseSnapshot(task.snapshot);
  const Dataset& data = memory_.RowsOf(task.split);
  std::vector<EvaluationSums> sums(memory_.model.lanes);
  const std::int64_t block = pass_->BlockRows(data);
  for (std::int64_t row = task.rows.begin; row < task.rows.end; row += block) {
    const RowRange rows{row, std::min(row + block, task.rows.end)};
    const std::span<const float> outputs = pass_->Outputs(data, rows);
    const HostTargets targets = ViewHostTargets(data, rows);
    for (std::int64_t lane = 0; lane < memory_.model.lanes; ++lane) {
      sums[lane] += EvaluateLane(lane, outputs, targets);
    }
  }
  return sums;
}

// The outputs of the lanes lie side by side in each row.
EvaluationSums SnapshotEvaluator::EvaluateLane(std::int64_t lane, std::span<const float> outputs,
                                               const HostTargets& targets) {
  const std::size_t lanes = memory_.model.lanes;
  const std::size_t width = memory_.model.outputs;
  const std::size_t first = lane * width;
  std::span<const float> class_weights = memory_.class_weights;
  if (!memory_.lanes.empty() && !class_weights.empty()) {
    class_weights = class_weights.subspan(first, width);
  }
  if (lanes > 1) {
    lane_outputs_.clear();
    for (std::size_t at = first; at < outputs.size(); at += lanes * width) {
      const auto row = outputs.subspan(at, width);
      lane_outputs_.insert(lane_outputs_.end(), row.begin(), row.end());
    }
    outputs = lane_outputs_;
  }
  return hogbatch::Evaluate(memory_.model.loss, outputs, memory_.model.outputs, targets,
                            class_weights);
}

void SnapshotEvaluator::UseSnapshot(SnapshotId id) {
  if (!pass_) pass_.emplace(memory_.model, device_);
  if (snapshot_ == id && version_ == memory_.snapshot_versions[id]) return;
  pass_->SetParameters(memory_.snapshots[id]);
  snapshot_ = id;
  version_ = memory_.snapshot_versions[id];
}

}  // namespace hogbatch
