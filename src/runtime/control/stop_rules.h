// When a run ends.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "runtime/control/progress.h"

namespace hogbatch {

struct RunRules {
  double epochs = 10;
  double max_seconds = std::numeric_limits<double>::infinity();
  std::optional<double> target_loss;
  std::int64_t patience = 0;  // evaluations without a better deciding loss; 0: no limit
  double eval_every = 1;      // epochs; infinite: no evaluation at all
  double report_every = 2;    // seconds
};

// Judges evaluations as they come.
class StopRules {
 public:
  explicit StopRules(const RunRules& rules) : rules_(rules) {}

  // kNone: go on.
  StopReason Judge(const Evaluation& evaluation);

 private:
  RunRules rules_;
  double best_loss_ = std::numeric_limits<double>::infinity();
  std::int64_t without_improvement_ = 0;
};

}  // namespace hogbatch
