// Proportional: every worker gets as many rows per update as it trains in --update-ms, so that all
// updates take equally long.
#include <algorithm>
#include <cmath>

#include "algorithms/table.h"

namespace hogbatch {
namespace {

struct ProportionalOptions {
  double update_ms = 10;

  void Visit(OptionVisitor& visitor) {
    visitor.Number("update-ms", update_ms, {0.1, 1e3}, "proportional: milliseconds per update");
  }
};

class Proportional : public Algorithm {
 public:
  explicit Proportional(const AlgorithmOptions& options)
      : options_(options), own_(options.own.as<ProportionalOptions>()) {}

  std::optional<Assignment> Assign(const WorkerState& idle, const JobTable& table) override {
    const BatchRange& range = options_.range_of(idle.device.kind);
    std::int64_t rows = range.min;  // until its speed is known
    if (idle.seconds_per_row > 0) rows = std::llround(own_.update_ms / 1e3 / idle.seconds_per_row);
    return Assignment{.job = table.jobs.front().id,
                      .batch_size = std::clamp(rows, range.min, range.max)};
  }

 private:
  AlgorithmOptions options_;
  ProportionalOptions own_;
};

}  // namespace

AnyOptions MakeProportionalOptions() { return ProportionalOptions(); }

std::unique_ptr<Algorithm> MakeProportional(const AlgorithmOptions& options) {
  return std::make_unique<Proportional>(options);
}

}  // namespace hogbatch
