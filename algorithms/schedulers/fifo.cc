// First in, first out: a worker serves the job that arrived first. Later jobs get the workers that
// it leaves idle.
#include "algorithms/schedulers/order.h"
#include "algorithms/schedulers/table.h"

namespace hogbatch {
namespace {

class Fifo : public Scheduler {
 public:
  std::optional<JobId> Choose(const WorkerState&, const JobTable& table) override {
    return ChooseLeast(table, [](const JobState& job) { return job.arrived; });
  }
};

}  // namespace

std::unique_ptr<Scheduler> MakeFifo(const SchedulerOptions&) { return std::make_unique<Fifo>(); }

}  // namespace hogbatch
