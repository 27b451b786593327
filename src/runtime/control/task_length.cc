#include "runtime/control/task_length.h"

#include <algorithm>

namespace hogbatch {

std::int32_t UpdatesPerTask(const TaskRequest& request, const JobTable& table) {
  constexpr std::int64_t kFirstRows = 64, kMaxUpdates = 100000, kTasksLeft = 4;
  const std::int64_t batch_size = request.batch_size;
  const double seconds = request.worker.seconds_per_row * static_cast<double>(batch_size);
  const std::int64_t wanted =
      seconds > 0
          ? static_cast<std::int64_t>(std::min(request.task_seconds / seconds, 1.0 * kMaxUpdates))
          : kFirstRows / batch_size;
  const JobState& job = table.jobs.front();
  const std::int64_t rows_left = std::min(job.remaining_rows, job.train_rows);
  const std::int64_t share = rows_left / (batch_size * kTasksLeft * std::ssize(table.workers));
  return static_cast<std::int32_t>(std::max<std::int64_t>(1, std::min(wanted, share)));
}

double SmoothedSecondsPerRow(double known, const TimedTask& latest) {
  if (latest.rows == 0) return known;
  const double seen = latest.seconds / static_cast<double>(latest.rows);
  return known > 0 ? known + (seen - known) / 4 : seen;
}

}  // namespace hogbatch
