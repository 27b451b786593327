#include "algorithms/task_length.h"

#include <algorithm>

namespace hogbatch {

void TaskLength::Observe(const Outcome& outcome) {
  if (outcome.rows == 0) return;
  const auto worker = static_cast<std::size_t>(outcome.worker);
  if (seconds_per_row_.size() <= worker) seconds_per_row_.resize(worker + 1, 0);
  // One task may have met anything; a few tell.
  const double seen = outcome.seconds / static_cast<double>(outcome.rows);
  double& known = seconds_per_row_[worker];
  known += (seen - known) / (known > 0 ? 4 : 1);
}

double TaskLength::SecondsPerUpdate(WorkerId worker, std::int64_t rows) const {
  const auto index = static_cast<std::size_t>(worker);
  if (index >= seconds_per_row_.size()) return 0;
  return seconds_per_row_[index] * static_cast<double>(rows);
}

std::int32_t TaskLength::Updates(WorkerId worker, std::int64_t rows, const JobTable& table) const {
  constexpr std::int64_t kFirstRows = 64, kMost = 100000, kParts = 4;
  const double seconds = SecondsPerUpdate(worker, rows);
  const std::int64_t wanted =
      seconds > 0 ? static_cast<std::int64_t>(std::min(kSeconds / seconds, 1.0 * kMost))
                  : kFirstRows / rows;
  const JobState& job = table.jobs.front();
  const std::int64_t left = std::min(job.remaining_rows, job.train_rows);
  const std::int64_t share =
      left / (rows * kParts * static_cast<std::int64_t>(table.workers.size()));
  return static_cast<std::int32_t>(std::max<std::int64_t>(1, std::min(wanted, share)));
}

}  // namespace hogbatch
