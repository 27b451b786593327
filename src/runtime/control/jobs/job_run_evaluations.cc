// When a job is evaluated, and what follows from it.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "runtime/control/jobs/job_run.h"

namespace hogbatch {

void JobRun::OnEvaluated(const Task& task, const Report& report) {
  meter_.AddEvaluationSeconds(report.seconds / workers_.live());
  if (lanes_) return OnLanesEvaluated(task, report);
  if (report.beta) meter_.SetBeta(*report.beta);
  if (report.has_exploded) return Diverge(fmt::format("weights exceed {:g}", kLargestWeight));
  const std::optional<Evaluation> evaluation = evaluations_.Finish(task, report);
  if (!evaluation) return;
  Progress progress = at_snapshot_;
  progress.evaluation = evaluation;
  progress.best = evaluations_.best() && evaluations_.best()->epoch == evaluation->epoch;
  run_.actions.reports.push_back(progress);
  if (const std::string why = evaluations_.WhyDiverged(*evaluation); !why.empty()) {
    // No learning rate makes the initial model better.
    return evaluation->epoch == 0 ? Stop(StopReason::kDiverged) : Diverge(why);
  }
  if (progress.best) good_position_ = position_at_snapshot_;
  const StopReason reason = stop_rules_.Judge(*evaluation);
  if (reason != StopReason::kNone) Stop(reason);
}

void JobRun::OnLanesEvaluated(const Task& task, const Report& report) {
  lanes_->OnEvaluated(task, report, job_.epoch());
  const std::optional<Evaluation> whole = evaluations_.Finish(task, report);
  if (!whole) return;
  std::vector<std::int64_t> best;
  for (const LaneRuns::LaneEvaluation& judged : lanes_->Conclude(*whole)) {
    Progress progress = at_snapshot_;
    progress.lane = judged.lane;
    progress.evaluation = judged.evaluation;
    progress.best = judged.is_best;
    run_.actions.reports.push_back(progress);
    if (judged.is_best) best.push_back(judged.lane);
  }
  evaluations_.KeepLanes(std::move(best));
  if (lanes_->reason() != StopReason::kNone) Stop(lanes_->reason());
}

// An evaluation is due at the start, every `eval_every` epochs, and at the end if the model changed
// since the last one.
void JobRun::CheckEvaluation() {
  if (evaluations_.under_way() || evaluated_at_ == job_.examples()) return;
  if (is_draining() || checkpoint_.under_way() || checkpoint_.ready() || rollback_.active()) return;
  if (!std::isfinite(rules_.eval_every)) return;
  if (reason_ == StopReason::kDiverged || reason_ == StopReason::kNoWorkers) return;
  // A round that is applied only in part does not give a model.
  if (!EvaluationIsDue() || job_.round().open()) return;
  evaluated_at_ = job_.examples();
  PlanEvaluation();
  at_snapshot_ = meter_.Report(MeteredRun(), run_.now);
  position_at_snapshot_ = job_.position();
  evaluations_.Begin(job_.epoch());
}

bool JobRun::EvaluationIsDue() const {
  if (reason_ != StopReason::kNone) return job_.quiet();
  if (spec().exclusive()) return RowsToEvaluation() <= 0 && job_.quiet();
  return job_.epoch() >= next_evaluation_;
}

// Its evaluation has made the run pause. A job that goes on from the checkpoint of its pause, for
// no further than before, is not evaluated again.
bool JobRun::IsAtPause() const {
  return spec().exclusive() && evaluations_.best() && !evaluations_.under_way() &&
         evaluated_at_ == job_.examples() && job_.epoch() > rules_.pause_epoch - 1e-9;
}

// An exclusive job hands out no row while an evaluation is due, so rounding must not leave this one
// due for ever.
void JobRun::PlanEvaluation() {
  next_evaluation_ = (std::floor(job_.epoch() / rules_.eval_every) + 1) * rules_.eval_every;
  while (spec().exclusive() && RowsToEvaluation() <= 0) next_evaluation_ += rules_.eval_every;
}

// Of an exclusive job: rows to hand out until the next evaluation, whose snapshot is taken between
// two merges that do not depend on timing. Lost rows bring it no nearer.
std::int64_t JobRun::RowsToEvaluation() const {
  if (!std::isfinite(rules_.eval_every)) return std::numeric_limits<std::int64_t>::max();
  const double due = std::ceil(next_evaluation_ * static_cast<double>(spec().train_rows));
  return static_cast<std::int64_t>(std::min(due, 0x1p62)) - (job_.handed_out() - job_.lost_rows());
}

}  // namespace hogbatch
