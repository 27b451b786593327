#include "runtime/workers/snapshot_evaluator.h"

#include <algorithm>

#include "nn/metrics.h"
#include "runtime/batches/batch.h"

namespace hogbatch {

EvaluationSums SnapshotEvaluator::Evaluate(const Task& task) {
  UseSnapshot(task.snapshot);
  const Dataset& data = memory_.RowsOf(task.split);
  EvaluationSums sums;
  const std::int64_t block = pass_->BlockRows(data);
  for (std::int64_t row = task.rows.begin; row < task.rows.end; row += block) {
    const RowRange rows{row, std::min(row + block, task.rows.end)};
    sums +=
        hogbatch::Evaluate(memory_.model.loss, pass_->Outputs(data, rows), memory_.model.outputs,
                           ViewHostTargets(data, rows), memory_.class_weights);
  }
  return sums;
}

void SnapshotEvaluator::UseSnapshot(SnapshotId id) {
  if (!pass_) pass_.emplace(memory_.model, device_);
  if (snapshot_ == id && version_ == memory_.snapshot_versions[id]) return;
  pass_->SetParameters(memory_.snapshots[id]);
  snapshot_ = id;
  version_ = memory_.snapshot_versions[id];
}

}  // namespace hogbatch
