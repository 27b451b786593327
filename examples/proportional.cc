// Proportional: every worker gets as many rows per update as it trains in 10 ms, so that all
// updates take equally long.
#include <algorithm>
#include <cmath>

#include "algorithms/table.h"

namespace hogbatch {
namespace {

class Proportional : public Algorithm {
 public:
  explicit Proportional(const AlgorithmOptions& options) : options_(options) {}

  std::optional<Assignment> Assign(const WorkerState& idle, const JobTable& table) override {
    const BatchRange& range = options_.range_of(idle.device.kind);
    std::int64_t rows = range.min;  // until its speed is known
    if (idle.seconds_per_row > 0) rows = std::llround(0.01 / idle.seconds_per_row);
    return Assignment{.job = table.jobs.front().id,
                      .batch_size = std::clamp(rows, range.min, range.max)};
  }

 private:
  AlgorithmOptions options_;
};

}  // namespace

std::unique_ptr<Algorithm> MakeProportional(const AlgorithmOptions& options) {
  return std::make_unique<Proportional>(options);
}

}  // namespace hogbatch
