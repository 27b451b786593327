// Hogbatch: every worker updates the shared model on its own, with a number of rows per update that
// is fixed for its kind of device, and nobody waits for anybody. One row per update is Hogwild.
#include <algorithm>
#include <vector>

#include "algorithms/table.h"

namespace hogbatch {
namespace {

class Hogbatch : public Algorithm {
 public:
  explicit Hogbatch(const AlgorithmOptions& options) : options_(options) {}

  std::optional<Assignment> Assign(const WorkerState& idle, const JobTable& table) override {
    const JobState& job = table.jobs.front();
    const std::int64_t rows = FixedRows(options_, idle.device.kind);
    return Assignment{.job = job.id, .update_rows = rows, .updates = Updates(idle, rows, table)};
  }

  void Observe(const Outcome& outcome) override {
    const auto worker = static_cast<std::size_t>(outcome.worker);
    if (seconds_per_update_.size() <= worker) seconds_per_update_.resize(worker + 1, 0);
    seconds_per_update_[worker] = outcome.seconds / outcome.updates;
  }

 private:
  // A message costs microseconds and an update may cost as little: a task is as many updates as
  // fill kTaskSeconds at the speed last seen, but a small part of what is left, so that workers end
  // together.
  std::int32_t Updates(const WorkerState& idle, std::int64_t rows, const JobTable& table) const {
    constexpr double kTaskSeconds = 0.02;
    constexpr std::int64_t kFirst = 4, kMost = 100000, kParts = 4;
    const auto worker = static_cast<std::size_t>(idle.id);
    const double seconds = worker < seconds_per_update_.size() ? seconds_per_update_[worker] : 0;
    const std::int64_t wanted =
        seconds > 0 ? static_cast<std::int64_t>(std::min(kTaskSeconds / seconds, 1.0 * kMost))
                    : kFirst;
    const JobState& job = table.jobs.front();
    const std::int64_t left = std::min(job.remaining_rows, job.train_rows);
    const std::int64_t share =
        left / (rows * kParts * static_cast<std::int64_t>(table.workers.size()));
    return static_cast<std::int32_t>(std::max<std::int64_t>(1, std::min(wanted, share)));
  }

  AlgorithmOptions options_;
  std::vector<double> seconds_per_update_;  // of each worker; 0: not seen yet
};

}  // namespace

std::unique_ptr<Algorithm> MakeHogbatch(const AlgorithmOptions& options) {
  return std::make_unique<Hogbatch>(options);
}

}  // namespace hogbatch
