#include "runtime/control/worker_table.h"

#include <algorithm>
#include <limits>

#include "runtime/control/task_length.h"
#include "runtime/control/tasks_in_flight.h"
#include "runtime/control/teams.h"

namespace hogbatch {
namespace {

// Updates of a worker that has not merged yet are taken for stale, unless it is alone.
constexpr double kUnknownStaleness = std::numeric_limits<double>::infinity();

double RowsPerSecond(const WorkerState& worker) {
  if (worker.training_seconds <= 0) return 0;
  return static_cast<double>(worker.rows) / worker.training_seconds;
}

}  // namespace

WorkerTable::WorkerTable(std::span<const DeviceInfo> devices,
                         const IndexedVector<WorkerId, std::int64_t>& max_batch_size)
    : live_(static_cast<int>(devices.size())) {
  const Teams teams = MakeTeams(devices);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    states_.push_back({.id = i,
                       .device = devices[i],
                       .team = teams.of_worker[i],
                       .max_batch_size = max_batch_size.value_or(i, 0),
                       .staleness = devices.size() > 1 ? kUnknownStaleness : 0});
  }
}

void WorkerTable::OnSent(const Task& task) {
  WorkerState& worker = states_[task.worker];
  if (worker.outstanding++ == 0) ++busy_;
  ++in_flight_;
  if (IsEvaluation(task)) {
    ++evaluating_;
    ++worker.evaluations;
  }
}

void WorkerTable::OnReport(const Task& task, const Report& report) {
  WorkerState& worker = states_[report.worker];
  if (--worker.outstanding == 0) --busy_;
  --in_flight_;
  worker.busy_seconds += report.seconds;
  busy_seconds_ += report.seconds;
  if (IsEvaluation(task)) {
    --evaluating_;
    --worker.evaluations;
  }
}

void WorkerTable::AddTrained(const Task& task, const Report& report) {
  WorkerState& worker = states_[report.worker];
  const std::int64_t rows = task.rows.size();
  worker.updates += report.updates;
  worker.merges += report.merges;
  worker.rows += rows;
  worker.training_seconds += report.seconds;
  training_seconds_ += report.seconds;
  timed_rows_ += rows;
  worker.seconds_per_row =
      SmoothedSecondsPerRow(worker.seconds_per_row, {.rows = rows, .seconds = report.seconds});
  worker.batch_size = (rows + report.updates - 1) / report.updates;
  if (report.max_batch_size > 0) worker.max_batch_size = report.max_batch_size;
  const auto staleness = static_cast<double>(report.staleness.total_staleness);
  worker.staleness = report.merges > 0 ? staleness / static_cast<double>(report.merges) : 0;
}

void WorkerTable::AddTrained(const UnfinishedTask& unfinished) {
  WorkerState& worker = states_[unfinished.task.worker];
  worker.updates += unfinished.updates_done();
  worker.merges += unfinished.merges_done;
  worker.rows += unfinished.rows_done().size();
}

void WorkerTable::Fail(WorkerId id) {
  WorkerState& worker = states_[id];
  worker.live = false;
  --live_;
  if (worker.outstanding > 0) --busy_;
  in_flight_ -= worker.outstanding;
  evaluating_ -= worker.evaluations;
  worker.outstanding = worker.evaluations = 0;
}

// What was trained by a worker that failed in the middle was not timed, and adds a few rows here.
void WorkerTable::AddUp() {
  busy_seconds_ = training_seconds_ = 0;
  timed_rows_ = 0;
  for (const WorkerState& worker : states_) {
    busy_seconds_ += worker.busy_seconds;
    training_seconds_ += worker.training_seconds;
    timed_rows_ += worker.rows;
  }
}

double WorkerTable::StalenessInUpdates(const WorkerState& worker, const LearningRate& rates) const {
  double merges = 0, updates = 0;
  for (const WorkerState& other : states_) {
    if (other.id == worker.id || other.updates == 0) continue;
    merges += static_cast<double>(other.merges);
    updates += static_cast<double>(other.updates) * rates.Scale(other.batch_size);
  }
  return merges > 0 ? worker.staleness * updates / merges : worker.staleness;
}

bool WorkerTable::IsFastEnoughToEvaluate(const WorkerState& worker) const {
  if (worker.rows == 0) return true;  // not measured yet
  double best = 0;
  for (const WorkerState& other : states_) {
    if (other.live) best = std::max(best, RowsPerSecond(other));
  }
  return 2 * RowsPerSecond(worker) >= best;
}

}  // namespace hogbatch
