// Measures a run for its reports: totals since it began, and speeds since the last report.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/staleness.h"
#include "messaging/messages.h"
#include "runtime/control/algorithm.h"
#include "runtime/control/job.h"
#include "runtime/control/progress.h"
#include "runtime/control/stop_rules.h"
#include "runtime/control/teams.h"
#include "runtime/control/totals.h"

namespace hogbatch {

class ProgressMeter {
 public:
  ProgressMeter(std::span<const DeviceInfo> workers, const RunRules& rules);

  // What the meter reads.
  struct Run {
    const Job& job;
    std::span<const WorkerState> workers;
    const Algorithm& algorithm;
  };

  // Starts the clock. Times are in seconds, as in Coordinator::Handle.
  void Start(const Run& run, double now);
  // The job went back: speeds are measured from here.
  void Restart(const Run& run, double now) { reported_ = MarkAt(run, now); }
  double start() const { return start_; }
  double next_report() const { return reported_.at + report_every_; }

  // What happened in the run.
  void AddEvaluationSeconds(double seconds) { evaluation_seconds_ += seconds; }  // per worker
  void AddStaleness(const StalenessHistogram& merges) { staleness_ += merges; }
  void SetBeta(double beta) { beta_ = beta; }
  void AddFailure(const Failure& failure) { failures_[failure.worker] = failure.what; }

  // Speeds are over the whole run.
  Progress Totals(const Run& run, double now) const;
  // Speeds are over the time since the last report, which ends here.
  Progress Report(const Run& run, double now);

  // The clock of a resumed run goes on where it stood at `now`; restoring needs no `now`.
  void VisitState(StateVisitor& visitor, double now);

 private:
  // Where the run stood at a report.
  struct Mark {
    double at = 0;
    std::int64_t examples = 0;
    std::int64_t updates = 0;
    double loss_sum = 0;
    std::int64_t rows_with_loss = 0;
    RowsPerTeam rows_by_team;
  };
  std::optional<double> SecondsLeft(const Progress& progress, const Job& job) const;
  Mark MarkAt(const Run& run, double now) const;

  // not state: teams_, max_seconds_, report_every_, failures_, start_, reported_
  Teams teams_;
  double max_seconds_;
  double report_every_;
  IndexedVector<WorkerId, std::string> failures_;  // empty: none
  double start_ = 0;
  double seconds_before_ = 0;  // that the run had taken when it was resumed
  double evaluation_seconds_ = 0;
  StalenessHistogram staleness_;
  std::optional<double> beta_;
  Mark reported_;
};

}  // namespace hogbatch
