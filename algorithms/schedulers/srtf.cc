// Shortest remaining time first: a worker serves the job that would end first if it had one worker
// to itself, at the speed measured so far. A job that was not measured yet goes first on one
// worker, since a short task tells its speed, and last on the others.
#include <limits>

#include "algorithms/schedulers/order.h"
#include "algorithms/schedulers/table.h"

namespace hogbatch {
namespace {

class ShortestRemainingTimeFirst : public Scheduler {
 public:
  std::optional<JobId> Choose(const WorkerState&, const JobTable& table) override {
    return ChooseLeast(table, RemainingSeconds);
  }

 private:
  static double RemainingSeconds(const JobState& job) {
    if (job.remaining_rows == 0) return 0;
    if (job.seconds_per_row > 0) {
      return job.seconds_per_row * static_cast<double>(job.remaining_rows);
    }
    return job.workers == 0 ? 0 : std::numeric_limits<double>::infinity();
  }
};

}  // namespace

std::unique_ptr<Scheduler> MakeSrtf(const SchedulerOptions&) {
  return std::make_unique<ShortestRemainingTimeFirst>();
}

}  // namespace hogbatch
