#include "runtime/control/stop_rules.h"

#include "runtime/control/evaluations.h"

namespace hogbatch {

StopReason StopRules::Judge(const Evaluation& evaluation) {
  const std::optional<double> loss = DecidingLoss(evaluation);
  if (!loss) return StopReason::kNone;
  if (rules_.target_loss && *loss <= *rules_.target_loss) return StopReason::kTargetLoss;
  without_improvement_ = *loss < best_loss_ ? 0 : without_improvement_ + 1;
  if (*loss < best_loss_) best_loss_ = *loss;
  const bool out_of_patience = rules_.patience > 0 && without_improvement_ >= rules_.patience;
  if (out_of_patience) return StopReason::kPatience;
  // Rounding must not move the pause to the next evaluation.
  return evaluation.epoch > rules_.pause_epoch - 1e-9 ? StopReason::kPaused : StopReason::kNone;
}

std::string_view Name(StopReason reason) {
  switch (reason) {
    case StopReason::kNone:
      return "running";
    case StopReason::kEpochs:
      return "epochs";
    case StopReason::kMaxTime:
      return "max_time";
    case StopReason::kTargetLoss:
      return "target_loss";
    case StopReason::kPatience:
      return "patience";
    case StopReason::kPaused:
      return "paused";
    case StopReason::kInterrupted:
      return "interrupted";
    case StopReason::kDiverged:
      return "diverged";
    case StopReason::kNoWorkers:
      break;
  }
  return "no_workers";
}

}  // namespace hogbatch
