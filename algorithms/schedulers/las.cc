// Least attained service, in two queues (after Tiresias): jobs on which workers have spent little
// time go first, and the others share what is left. Within a queue jobs go in order of priority,
// then of arrival, so that they do not take turns at every task. It needs no forecast.
#include "algorithms/schedulers/order.h"
#include "algorithms/schedulers/table.h"

namespace hogbatch {
namespace {

class LeastAttainedService : public Scheduler {
 public:
  explicit LeastAttainedService(const SchedulerOptions& options) : options_(options) {}

  std::optional<JobId> Choose(const WorkerState&, const JobTable& table) override {
    return ChooseLeast(table, [this](const JobState& job) {
      return job.attained_seconds < options_.short_seconds ? 0 : 1;
    });
  }

 private:
  SchedulerOptions options_;  // not state: options_
};

}  // namespace

std::unique_ptr<Scheduler> MakeLas(const SchedulerOptions& options) {
  return std::make_unique<LeastAttainedService>(options);
}

}  // namespace hogbatch
