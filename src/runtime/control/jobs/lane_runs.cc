#include "runtime/control/jobs/lane_runs.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "runtime/control/evaluations.h"

namespace hogbatch {

void LaneRuns::Lane::Stop(StopReason why, double at) {
  if (reason != StopReason::kNone) return;
  reason = why;
  stopped_at = at;
}

void LaneRuns::Lane::VisitState(StateVisitor& visitor) {
  StopReason stopped = reason == StopReason::kPaused ? StopReason::kNone : reason;
  Visit(visitor, "stopped", stopped);
  RequireState(stopped <= StopReason::kNoWorkers, "stopped");
  if (reason != StopReason::kPaused) reason = stopped;
  Visit(visitor, "stopped_at", stopped_at);
  Visit(visitor, "rules", rules);
  Visit(visitor, "best", best);
  Visit(visitor, "first_loss", first_loss);
}

LaneRuns::LaneRuns(std::span<const LaneSetup> lanes) {
  for (const LaneSetup& lane : lanes) lanes_.emplace_back(lane);
}

std::vector<std::optional<float>> LaneRuns::RatesAt(double epoch, std::int64_t rows) const {
  std::vector<std::optional<float>> rates;
  for (const Lane& lane : lanes_) {
    const bool runs = lane.reason == StopReason::kNone;
    rates.push_back(runs ? std::optional(lane.rates.At(epoch, rows)) : std::nullopt);
  }
  return rates;
}

void LaneRuns::OnTrained(const Report& report, double epoch) {
  Check(report.lanes.size() == lanes_.size(), "a worker reports on every lane");
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (!std::isfinite(report.lanes[i].loss_sum)) lanes_[i].Stop(StopReason::kDiverged, epoch);
  }
}

void LaneRuns::OnEvaluated(const Task& task, const Report& report, double epoch) {
  if (task.kind == TaskKind::kKeepLanes) return;
  Check(report.lanes.size() == lanes_.size(), "a worker reports on every lane");
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    Lane& lane = lanes_[i];
    if (task.kind == TaskKind::kSnapshot) {
      lane.current = {};
      if (report.lanes[i].has_exploded) lane.Stop(StopReason::kDiverged, epoch);
    } else {
      std::optional<EvaluationSums>& sums = SumsOf(lane.current, task.split);
      if (!sums) sums.emplace();
      *sums += report.lanes[i].evaluation;
    }
  }
}

std::vector<LaneRuns::LaneEvaluation> LaneRuns::Conclude(const Evaluation& whole) {
  std::vector<LaneEvaluation> judged;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (auto one = Judge(i, whole)) judged.push_back(*one);
  }
  return judged;
}

std::optional<LaneRuns::LaneEvaluation> LaneRuns::Judge(std::size_t index,
                                                        const Evaluation& whole) {
  Lane& lane = lanes_[index];
  if (lane.reason != StopReason::kNone) return std::nullopt;
  LaneEvaluation judged{.lane = static_cast<std::int64_t>(index), .evaluation = lane.current};
  judged.evaluation.epoch = whole.epoch;
  if (!whole.train) judged.evaluation.train.reset();
  if (!WhyDiverged(judged.evaluation, lane.first_loss).empty()) {
    lane.Stop(StopReason::kDiverged, whole.epoch);
    return judged;
  }
  const std::optional<EvaluationSums>& valid = judged.evaluation.valid;
  judged.is_best = !lane.best || !valid || valid->mean_loss() < lane.best->valid->mean_loss();
  if (judged.is_best) lane.best = judged.evaluation;
  if (!lane.first_loss) lane.first_loss = DecidingLoss(judged.evaluation);
  const StopReason reason = lane.rules.Judge(judged.evaluation);
  if (reason != StopReason::kNone) lane.Stop(reason, whole.epoch);
  return judged;
}

// A job that pauses goes on later, and one that has diverged has no lane worth keeping.
StopReason LaneRuns::reason() const {
  StopReason found = StopReason::kDiverged;
  for (const Lane& lane : lanes_) {
    if (lane.reason == StopReason::kNone) return StopReason::kNone;
    if (lane.reason == StopReason::kPaused) found = StopReason::kPaused;
    if (found == StopReason::kDiverged) found = lane.reason;
  }
  return found;
}

std::vector<LaneResult> LaneRuns::Results(StopReason job, double epoch) const {
  std::vector<LaneResult> results;
  for (const Lane& lane : lanes_) {
    const bool ran = lane.reason == StopReason::kNone;
    results.push_back({.stopped_because = ran ? job : lane.reason,
                       .epoch = ran ? epoch : lane.stopped_at,
                       .saved = lane.best});
  }
  return results;
}

void LaneRuns::VisitState(StateVisitor& visitor) {
  const std::size_t count = visitor.BeginList("lanes", lanes_.size());
  RequireState(count == lanes_.size(), "lanes");
  VisitItems(visitor, lanes_);
}

}  // namespace hogbatch
