#include "algorithms/task_length.h"

#include <algorithm>

namespace hogbatch {

void TaskLength::Observe(const Outcome& outcome) {
  if (outcome.rows == 0) return;
  const auto worker = static_cast<std::size_t>(outcome.worker);
  if (seconds_per_row_.size() <= worker) seconds_per_row_.resize(worker + 1, 0);
  seconds_per_row_[worker] = outcome.seconds / static_cast<double>(outcome.rows);
}

std::int32_t TaskLength::Updates(WorkerId worker, std::int64_t rows, const JobTable& table) const {
  constexpr double kTaskSeconds = 0.02;
  constexpr std::int64_t kFirstRows = 64, kMost = 100000, kParts = 4;
  const auto index = static_cast<std::size_t>(worker);
  const double per_row = index < seconds_per_row_.size() ? seconds_per_row_[index] : 0;
  const double seconds = per_row * static_cast<double>(rows);
  const std::int64_t wanted =
      seconds > 0 ? static_cast<std::int64_t>(std::min(kTaskSeconds / seconds, 1.0 * kMost))
                  : kFirstRows / rows;
  const JobState& job = table.jobs.front();
  const std::int64_t left = std::min(job.remaining_rows, job.train_rows);
  const std::int64_t share =
      left / (rows * kParts * static_cast<std::int64_t>(table.workers.size()));
  return static_cast<std::int32_t>(std::max<std::int64_t>(1, std::min(wanted, share)));
}

}  // namespace hogbatch
