#include "runtime/control/progress_meter.h"

#include <algorithm>
#include <utility>

namespace hogbatch {

ProgressMeter::ProgressMeter(std::span<const DeviceInfo> workers, const RunRules& rules)
    : teams_(MakeTeams(workers)),
      max_seconds_(rules.max_seconds),
      report_every_(rules.report_every),
      failures_(workers.size()),
      reported_{.rows_by_team = RowsPerTeam(teams_.names.size())} {}

void ProgressMeter::Start(const Run& run, double now) {
  start_ = now - seconds_before_;
  reported_ = MarkAt(run, now);
}

ProgressMeter::Mark ProgressMeter::MarkAt(const Run& run, double now) const {
  return {.at = now,
          .examples = run.job.examples(),
          .updates = run.job.updates(),
          .loss_sum = run.job.loss_sum(),
          .rows_with_loss = run.job.rows_with_loss(),
          .rows_by_team = RowsByTeam(teams_, run.workers)};
}

void ProgressMeter::VisitState(StateVisitor& visitor, double now) {
  seconds_before_ = now - start_;
  Visit(visitor, "seconds", seconds_before_);
  Visit(visitor, "evaluation_seconds", evaluation_seconds_);
  Visit(visitor, "staleness", staleness_);
  Visit(visitor, "beta", beta_);
}

Progress ProgressMeter::Totals(const Run& run, double now) const {
  const double elapsed = now - start_;
  const double train = std::max(0.0, elapsed - evaluation_seconds_);
  const double span = std::max(train, 1e-9);
  const RowsPerTeam none(teams_.names.size());
  return {.job = run.job.spec().id,
          .seconds = elapsed,
          .train_seconds = train,
          .epoch = run.job.epoch(),
          .examples = run.job.examples(),
          .updates = run.job.updates(),
          .examples_per_second = static_cast<double>(run.job.examples()) / span,
          .updates_per_second = static_cast<double>(run.job.updates()) / span,
          .running_loss = {},
          .seconds_left = {},
          .evaluation = {},
          .workers = TotalsByWorker(run.workers, failures_, elapsed),
          .teams = TotalsByTeam(teams_, run.workers, span, none),
          .bound_teams = run.algorithm.bound_teams(),
          .staleness = staleness_,
          .beta = beta_,
          .lost_rows = run.job.lost_rows()};
}

Progress ProgressMeter::Report(const Run& run, double now) {
  Progress progress = Totals(run, now);
  const Mark last = std::exchange(reported_, MarkAt(run, now));
  const double span = std::max(now - last.at, 1e-9);
  progress.examples_per_second = static_cast<double>(progress.examples - last.examples) / span;
  progress.updates_per_second = static_cast<double>(progress.updates - last.updates) / span;
  progress.teams = TotalsByTeam(teams_, run.workers, span, last.rows_by_team);
  const std::int64_t rows = reported_.rows_with_loss - last.rows_with_loss;
  if (rows > 0) {
    progress.running_loss = (reported_.loss_sum - last.loss_sum) / static_cast<double>(rows);
  }
  progress.seconds_left = SecondsLeft(progress, run.job);
  return progress;
}

std::optional<double> ProgressMeter::SecondsLeft(const Progress& progress, const Job& job) const {
  if (progress.examples == 0) return std::nullopt;
  const double per_example = progress.seconds / static_cast<double>(progress.examples);
  const double to_last_epoch = per_example * static_cast<double>(job.state().remaining_rows);
  const double to_max_time = std::max(0.0, max_seconds_ - progress.seconds);
  return std::min(to_last_epoch, to_max_time);
}

}  // namespace hogbatch
