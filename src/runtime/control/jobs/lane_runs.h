// The lanes of a job: networks that are trained together on the same rows. Each has a learning rate
// of its own and stops by itself.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "messaging/messages.h"
#include "nn/learning_rate.h"
#include "runtime/control/progress.h"
#include "runtime/control/stop_rules.h"

namespace hogbatch {

struct LaneSetup {
  LearningRate rates;
  RunRules rules;  // target loss, patience and pause
};

class LaneRuns {
 public:
  explicit LaneRuns(std::span<const LaneSetup> lanes);

  // The learning rates of an update of `rows` rows at `epoch`; none: the lane has stopped.
  std::vector<std::optional<float>> RatesAt(double epoch, std::int64_t rows) const;

  // A finished training task: a lane whose loss is not finite stops.
  void OnTrained(const Report& report, double epoch);
  // A finished task of an evaluation, before its sums are concluded.
  void OnEvaluated(const Task& task, const Report& report, double epoch);

  // An evaluation of a lane that had not stopped before.
  struct LaneEvaluation {
    std::int64_t lane = 0;
    Evaluation evaluation;
    bool is_best = false;  // so far
  };
  // The evaluation is complete, with the splits that `whole` has. Lanes stop by their rules.
  std::vector<LaneEvaluation> Conclude(const Evaluation& whole);

  // Why the job stops: all lanes have stopped. kNone: it goes on.
  StopReason reason() const;
  // At the end of a job that has trained up to `epoch`, and stopped for this reason.
  std::vector<LaneResult> Results(StopReason job, double epoch) const;

  void VisitState(StateVisitor& visitor);

 private:
  struct Lane {
    explicit Lane(const LaneSetup& setup) : rates(setup.rates), rules(setup.rules) {}

    void Stop(StopReason why, double at);
    // A lane that has paused goes on later.
    void VisitState(StateVisitor& visitor);

    // not state: rates, current (no evaluation is under way)
    LearningRate rates;
    StopRules rules;
    StopReason reason = StopReason::kNone;
    double stopped_at = 0;  // epoch
    std::optional<Evaluation> best = {};
    std::optional<double> first_loss = {};
    Evaluation current = {};
  };

  std::optional<LaneEvaluation> Judge(std::size_t index, const Evaluation& whole);

  std::vector<Lane> lanes_;
};

}  // namespace hogbatch
