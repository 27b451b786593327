// Synchronous training, the ordinary data-parallel baseline: in each round every worker makes the
// gradient of its own rows, with the batch size of its kind of device, and one averaged update
// follows. The result does not depend on the speed of the workers.
#include <algorithm>

#include "algorithms/table.h"

namespace hogbatch {
namespace {

class Sync : public Algorithm {
 public:
  explicit Sync(const AlgorithmOptions& options) : options_(options) {}

  // A round begins when all workers are idle. Rows are dealt in the order of worker ids, so timing
  // does not decide which worker trains which rows.
  std::optional<Assignment> Assign(const WorkerState& idle, const JobTable& table) override {
    const bool all_idle = std::none_of(
        table.workers.begin(), table.workers.end(),
        [](const WorkerState& worker) { return worker.live && worker.outstanding > 0; });
    const bool next_in_deal = dealing_ && idle.id > last_dealt_;
    if (!all_idle && !next_in_deal) return std::nullopt;
    dealing_ = true;
    last_dealt_ = idle.id;
    return Assignment{.job = table.jobs.front().id,
                      .batch_size = FixedBatchSize(options_, idle.device.kind)};
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
