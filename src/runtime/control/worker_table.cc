#include "runtime/control/worker_table.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/error.h"
#include "runtime/control/task_length.h"
#include "runtime/control/teams.h"

namespace hogbatch {
namespace {

// Updates of a worker that has not merged yet are taken for stale, unless it is alone.
constexpr double kUnknownStaleness = std::numeric_limits<double>::infinity();

// A worker is given up if it takes this many times as long as expected.
constexpr double kSilenceFactor = 100;

double RowsPerSecond(const WorkerState& worker) {
  if (worker.training_seconds <= 0) return 0;
  return static_cast<double>(worker.rows) / worker.training_seconds;
}

}  // namespace

bool IsEvaluation(const Task& task) {
  return task.kind == TaskKind::kSnapshot || task.kind == TaskKind::kEvaluate;
}

WorkerTable::WorkerTable(std::span<const DeviceInfo> devices,
                         std::span<const std::int64_t> max_batch_size)
    : in_flight_(devices.size()),
      silent_since_(devices.size()),
      live_(static_cast<int>(devices.size())) {
  const Teams teams = MakeTeams(devices);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    states_.push_back({.id = i,
                       .device = devices[i],
                       .team = teams.of_worker[i],
                       .max_batch_size = i < max_batch_size.size() ? max_batch_size[i] : 0,
                       .staleness = devices.size() > 1 ? kUnknownStaleness : 0});
  }
}

bool WorkerTable::any_busy() const {
  return std::ranges::any_of(states_, [](const WorkerState& w) { return w.outstanding > 0; });
}

const WorkerState* WorkerTable::FirstLive() const {
  const auto found = std::ranges::find_if(states_, &WorkerState::live);
  return found == states_.end() ? nullptr : &*found;
}

void WorkerTable::Send(const Task& task, double now) {
  WorkerState& worker = states_[task.worker];
  if (worker.outstanding == 0) silent_since_[task.worker] = now;
  ++worker.outstanding;
  if (IsEvaluation(task)) {
    ++evaluating_;
    ++worker.evaluations;
  }
  in_flight_[task.worker].push_back(task);
}

Task WorkerTable::Take(const Report& report, double now) {
  std::vector<Task>& tasks = in_flight_[report.worker];
  const auto found = std::ranges::find(tasks, report.task, &Task::id);
  Check(found != tasks.end(), "a report for a task its worker does not have");
  const Task task = *found;
  tasks.erase(found);
  WorkerState& worker = states_[report.worker];
  --worker.outstanding;
  silent_since_[report.worker] = now;
  worker.busy_seconds += report.seconds;
  if (IsEvaluation(task)) {
    --evaluating_;
    --worker.evaluations;
  }
  return task;
}

void WorkerTable::AddTrained(const Task& task, const Report& report) {
  WorkerState& worker = states_[report.worker];
  const std::int64_t rows = task.rows.size();
  worker.updates += report.updates;
  worker.merges += report.merges;
  worker.rows += rows;
  worker.training_seconds += report.seconds;
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

std::vector<Task> WorkerTable::Fail(WorkerId id) {
  WorkerState& worker = states_[id];
  worker.live = false;
  --live_;
  evaluating_ -= worker.evaluations;
  worker.outstanding = worker.evaluations = 0;
  return std::exchange(in_flight_[id], {});
}

std::optional<WorkerTable::Silence> WorkerTable::NextSilence(double least) const {
  std::optional<Silence> next;
  for (const WorkerState& worker : states_) {
    if (in_flight_[worker.id].empty()) continue;
    const Task& task = in_flight_[worker.id].front();
    if (task.kind == TaskKind::kSnapshot) continue;
    const double seconds = worker.seconds_per_row * static_cast<double>(task.rows.size());
    const double since = silent_since_[worker.id];
    const double allowed =
        worker.seconds_per_row > 0 ? std::max(least, kSilenceFactor * seconds) : 10 * least;
    if (next && next->ends <= since + allowed) continue;
    next = {.task = task.id, .worker = worker.id, .since = since, .ends = since + allowed};
  }
  return next;
}

void WorkerTable::ForgiveSilence(double now) {
  for (double& since : silent_since_) since = std::max(since, now);
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
