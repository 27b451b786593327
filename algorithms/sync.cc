// Synchronous training, the ordinary data-parallel baseline: in each step every worker makes the
// gradient of its own rows, as many as suit its kind of device, and one averaged update follows.
// The result does not depend on who was faster.
#include <algorithm>

#include "algorithms/table.h"

namespace hogbatch {
namespace {

class Sync : public Algorithm {
 public:
  explicit Sync(const AlgorithmOptions& options) : options_(options) {}

  // A step opens when everybody is idle, and is dealt in the order of the workers' ids: the same
  // rows go to the same worker whatever the timing.
  std::optional<Assignment> Assign(const WorkerState& idle, const JobTable& table) override {
    const bool all_idle = std::none_of(
        table.workers.begin(), table.workers.end(),
        [](const WorkerState& worker) { return worker.live && worker.outstanding > 0; });
    const bool next_in_deal = dealing_ && idle.id > last_dealt_;
    if (!all_idle && !next_in_deal) return std::nullopt;
    dealing_ = true;
    last_dealt_ = idle.id;
    return Assignment{.job = table.jobs.front().id,
                      .batch_size = FixedBatchSize(options_, idle.device.kind),
                      .hold = true};
  }

  void Observe(const Outcome&) override { dealing_ = false; }

 private:
  // not state: options_, and while no task is in flight dealing_, last_dealt_
  AlgorithmOptions options_;
  bool dealing_ = false;
  WorkerId last_dealt_ = -1;
};

}  // namespace

std::unique_ptr<Algorithm> MakeSync(const AlgorithmOptions& options) {
  return std::make_unique<Sync>(options);
}

}  // namespace hogbatch
