// When a run ends.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "runtime/control/progress.h"

namespace hogbatch {

// A rule that is not set does not apply. The defaults of a user are those of TrainingSpec.
struct RunRules {
  double epochs = 0;
  double max_seconds = std::numeric_limits<double>::infinity();
  std::optional<double> target_loss;
  std::int64_t patience = 0;  // evaluations without a better deciding loss; 0: no limit
  // The run pauses after the first evaluation at this epoch or later, with nothing in flight. It
  // goes on from its last checkpoint as if it had not paused. For exclusive jobs.
  double pause_epoch = std::numeric_limits<double>::infinity();
  // How often a run that diverges goes back to its best model, at half the learning rate.
  std::int64_t most_rollbacks = 3;
  double eval_every = std::numeric_limits<double>::infinity();    // epochs; infinite: no evaluation
  double report_every = std::numeric_limits<double>::infinity();  // seconds
};

// Judges evaluations as they come.
class StopRules {
 public:
  explicit StopRules(const RunRules& rules) : rules_(rules) {}

  // kNone: go on.
  StopReason Judge(const Evaluation& evaluation);

  void VisitState(StateVisitor& visitor) {
    Visit(visitor, "best_loss", best_loss_);
    Visit(visitor, "without_improvement", without_improvement_);
  }

 private:
  RunRules rules_;  // not state: rules_
  double best_loss_ = std::numeric_limits<double>::infinity();
  std::int64_t without_improvement_ = 0;
};

}  // namespace hogbatch
