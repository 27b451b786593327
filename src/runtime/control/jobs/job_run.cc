#include "runtime/control/jobs/job_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/error.h"
#include "runtime/control/tasks_in_flight.h"

namespace hogbatch {

JobRun::JobRun(const JobSetup& setup, std::span<const DeviceInfo> workers, RunContext& run)
    : run_(run),
      algorithm_(setup.algorithm),
      rules_(setup.rules),
      merge_rows_(setup.merge_rows),
      task_seconds_(setup.task_seconds),
      job_(setup.job, setup.rules.epochs, setup.rates, setup.seed),
      evaluations_(setup.rows, setup.lanes.empty() ? Keeps::kBestSnapshot : Keeps::kBestLanes),
      stop_rules_(setup.rules),
      meter_(workers, setup.rules),
      workers_(workers, setup.max_batch_size),
      device_bytes_(setup.device_bytes),
      visited_(workers.size()),
      arrived_(std::max(setup.job.arrives, run.now - run.start)),
      position_at_snapshot_(job_.position()),
      good_position_(job_.position()) {
  hogbatch::Check(setup.lanes.empty() || setup.job.exclusive(), "a job with lanes is exclusive");
  if (!setup.lanes.empty()) lanes_.emplace(setup.lanes);
}

JobState JobRun::state() const {
  JobState state = job_.state();
  state.workers = workers_.busy();
  state.priority = spec().priority;
  state.arrived = arrived_;
  state.attained_seconds = workers_.busy_seconds();
  state.epoch = job_.epoch();
  state.seconds_per_row = workers_.seconds_per_row();
  return state;
}

void JobRun::Begin() {
  has_begun_ = true;
  began_at_ = run_.now - run_.start;
  meter_.Start(MeteredRun(), run_.now);
}

void JobRun::OnReport(const Task& task, const Report& report) {
  workers_.OnReport(task, report);
  if (IsEvaluation(task)) {
    OnEvaluated(task, report);
  } else if (task.kind == TaskKind::kSave) {
    checkpoint_.OnDone();
  } else if (task.kind == TaskKind::kRestore) {
    rollback_.OnDone();
  } else if (task.kind == TaskKind::kRelease) {
    release_.OnDone();
    if (owner_ == task.worker) owner_.reset();
  } else if (task.kind == TaskKind::kApply) {
    job_.CompleteSlice();
  } else {
    OnTrained(task, report);
  }
}

void JobRun::OnTrained(const Task& task, const Report& report) {
  workers_.AddTrained(task, report);
  meter_.AddStaleness(report.staleness);
  job_.Complete(task, report);
  algorithm_->Observe({.worker = report.worker,
                       .job = task.job,
                       .rows = task.rows.size(),
                       .updates = report.updates,
                       .seconds = report.seconds});
  if (lanes_) {
    lanes_->OnTrained(report, job_.epoch());
    if (lanes_->reason() != StopReason::kNone) Stop(lanes_->reason());
  } else if (!std::isfinite(report.loss_sum)) {
    Diverge("the loss is NaN or infinite");
  }
  if (job_.round().gathered()) job_.MakeSlices(workers_.states());
}

void JobRun::OnFailure(const Failure& failure, std::span<const Task> tasks) {
  InterruptPauses();
  release_.Forget(failure.worker);
  if (owner_ == failure.worker) owner_.reset();  // its optimiser state is lost
  meter_.AddFailure(failure);
  workers_.Fail(failure.worker);
  for (const Task& task : tasks) {
    if (task.job == id()) TakeBack(task, failure);
  }
  InheritSlices(failure.worker);
  CheckWorkers();
}

void JobRun::OnRefused(const Task& task, const Report& report) {
  const Failure& failure = *report.failure;
  workers_.OnReport(task, report);
  if (workers_.Exclude(task.worker)) {
    run_.actions.warnings.push_back(
        {id(), fmt::format("it goes on without {}: {}", workers()[task.worker].device.name,
                           failure.what)});
    InterruptPauses();
    if (owner_ == task.worker) owner_.reset();  // its optimiser state is lost
  }
  TakeBack(task, failure);
  InheritSlices(task.worker);
  CheckWorkers();
}

// A checkpoint is asked for again later; a roll-back must be.
void JobRun::InterruptPauses() {
  if (checkpoint_.under_way()) checkpoint_.End();
  if (!rollback_.under_way()) return;
  rollback_.End();
  rollback_.Request();
}

// Another worker applies the slices of a round that were this one's.
void JobRun::InheritSlices(WorkerId from) {
  const auto successor =
      std::ranges::find_if(workers(), [&](const auto& worker) { return IsUsable(worker); });
  if (successor == workers().end()) return job_.AbandonRound();
  job_.round().Reassign(from, successor->id);
}

// A task of a worker that failed.
void JobRun::TakeBack(const Task& task, const Failure& failure) {
  if (IsEvaluation(task)) return evaluations_.Return(task);
  if (task.kind == TaskKind::kApply) return job_.round().ReturnSlice(task);
  if (task.kind == TaskKind::kRelease) return release_.OnDone();
  if (task.kind == TaskKind::kSave || task.kind == TaskKind::kRestore) return;
  if (failure.hangs && task.id == failure.task) {
    job_.Lose(task);
    if (job_.round().gathered()) job_.MakeSlices(workers_.states());
    return;
  }
  UnfinishedTask unfinished{.task = task, .torn_merge = {}};
  if (task.id == failure.task) unfinished.merges_done = failure.merges_done;
  if (failure.torn && task.id == failure.torn->task) unfinished.torn_merge = failure.torn->merge;
  workers_.AddTrained(unfinished);
  job_.Return(unfinished);
  if (job_.round().gathered()) job_.MakeSlices(workers_.states());
}

void JobRun::Interrupt() {
  if (!evaluations_.SkipTrainingRows()) evaluated_at_ = -1;
  Stop(StopReason::kInterrupted);
}

void JobRun::Stop(StopReason reason) {
  // The first reason stands, unless the model diverged or no worker is left to evaluate it.
  const bool final = reason == StopReason::kDiverged || reason == StopReason::kNoWorkers;
  if (reason_ == StopReason::kNone || final) reason_ = reason;
  if (final) evaluations_.Abandon();
}

// Goes back to the best model, if that may help.
void JobRun::Diverge(std::string_view why) {
  if (rollback_.active()) return;
  const bool goes_on = reason_ == StopReason::kNone || reason_ == StopReason::kEpochs;
  if (!goes_on || rollbacks_ >= rules_.most_rollbacks) return Stop(StopReason::kDiverged);
  ++rollbacks_;
  run_.actions.warnings.push_back(
      {id(), fmt::format("training diverged at epoch {:.4g} ({}); it goes back to the model of "
                         "epoch {:.4g} at half the learning rate (--lr {:g}; attempt {} of "
                         "{})",
                         job_.epoch(), why, evaluations_.best() ? evaluations_.best()->epoch : 0,
                         job_.rates().base() * job_.rate_factor() / 2, rollbacks_,
                         rules_.most_rollbacks)});
  reason_ = StopReason::kNone;
  evaluations_.Abandon();
  checkpoint_.End();
  rollback_.Request();
}

void JobRun::CheckWorkers() {
  if (std::ranges::any_of(workers(), [&](const auto& worker) { return IsUsable(worker); })) return;
  Stop(StopReason::kNoWorkers);
}

void JobRun::Check() {
  if (!has_begun_) return;
  CheckRollback();
  CheckStop();
  CheckCheckpoint();
  CheckEvaluation();
}

void JobRun::CheckRollback() {
  if (reason_ == StopReason::kNoWorkers) rollback_.End();
  if (rollback_.ready()) {
    rollback_.End();
    RollBack();
  }
  if (rollback_.wanted() && !workers_.any_busy()) rollback_.Begin(Pausing());
}

// The workers have gone back already.
void JobRun::RollBack() {
  job_.GoBackTo(good_position_);
  meter_.Restart(MeteredRun(), run_.now);
  evaluated_at_ = evaluations_.best() ? job_.examples() : -1;
  next_evaluation_ = 0;
  if (evaluations_.best()) PlanEvaluation();
}

void JobRun::CheckStop() {
  if (reason_ != StopReason::kNone || rollback_.active()) return;
  if (job_.finished()) Stop(StopReason::kEpochs);
  if (IsAtPause()) Stop(StopReason::kPaused);
  if (run_.now >= meter_.start() + rules_.max_seconds) Stop(StopReason::kMaxTime);
}

// A checkpoint waits for the evaluation under way, beside which training goes on. Then it goes
// before the next evaluation. A synchronous round is finished first.
bool JobRun::is_draining() const {
  return checkpoint_.wanted() && !evaluations_.under_way() && !job_.round().open() &&
         !rollback_.active();
}

void JobRun::CheckCheckpoint() {
  if (reason_ == StopReason::kDiverged || reason_ == StopReason::kNoWorkers) checkpoint_.End();
  if (is_draining() && job_.quiet() && !workers_.any_busy()) checkpoint_.Begin(Pausing());
}

// The workers that have a part in a pause. What an exclusive job keeps is in one place.
std::vector<WorkerId> JobRun::Pausing() const {
  std::vector<WorkerId> pausing;
  for (const WorkerState& worker : workers()) {
    if (!worker.live || (owner_ && *owner_ != worker.id)) continue;
    pausing.push_back(worker.id);
    if (spec().exclusive()) break;
  }
  return pausing;
}

bool JobRun::CanMove() const {
  return !checkpoint_.active() && !rollback_.active() && !workers_.any_busy();
}

void JobRun::End() {
  ended_at_ = run_.now;
  Release();
}

void JobRun::Release() {
  std::vector<WorkerId> releasing;
  for (const WorkerState& worker : workers()) {
    if (visited_[worker.id] && worker.live) releasing.push_back(worker.id);
    visited_[worker.id] = false;
  }
  release_.End();
  release_.Begin(releasing);
}

void JobRun::VisitState(StateVisitor& visitor) {
  Visit(visitor, "job", job_);
  Visit(visitor, "evaluations", evaluations_);
  Visit(visitor, "stop_rules", stop_rules_);
  visitor.Begin("meter");
  meter_.VisitState(visitor, run_.now);
  visitor.End();
  bool synchronous = spec().synchronous;  // checkpoints have this key; the value read is ignored
  Visit(visitor, "synchronous", synchronous);
  TaskId next_id = run_.next_id;
  Visit(visitor, "next_id", next_id);
  run_.next_id = std::max(run_.next_id, next_id);  // other jobs may have tasks in flight
  Visit(visitor, "next_evaluation", next_evaluation_);
  Visit(visitor, "evaluated_at", evaluated_at_);
  Visit(visitor, "good_place", good_position_);
  Visit(visitor, "rollbacks", rollbacks_);
  if (lanes_) lanes_->VisitState(visitor);
  std::vector<std::string> names;
  for (const WorkerState& worker : workers()) names.push_back(worker.device.name);
  const std::vector<std::string> mine = names;
  Visit(visitor, "worker_names", names);
  if (names != mine) return;
  Visit(visitor, "workers", workers_);
  visitor.Begin("algorithm");
  algorithm_->VisitState(visitor);
  visitor.End();
}

ProgressMeter::Run JobRun::MeteredRun() const {
  return {.job = job_, .workers = workers(), .algorithm = *algorithm_};
}

void JobRun::ReportIfDue() {
  if (!has_begun_ || ended_at_ || run_.now < meter_.next_report()) return;
  run_.actions.reports.push_back(meter_.Report(MeteredRun(), run_.now));
}

bool JobRun::done() const {
  if (reason_ == StopReason::kNone) return false;
  return !workers_.any_busy() && !evaluations_.under_way() && !rollback_.active();
}

bool JobRun::awaits_last_checkpoint() const {
  const bool is_lost = reason_ == StopReason::kDiverged || reason_ == StopReason::kNoWorkers;
  return has_begun_ && done() && !is_lost && !is_saved_;
}

double JobRun::next_tick() const {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  if (ended_at_) return kNever;
  if (!has_begun_) return has_arrived() ? kNever : arrival();
  const double report = meter_.next_report();
  if (reason_ != StopReason::kNone) return report;
  return std::min(report, meter_.start() + rules_.max_seconds);
}

RunResult JobRun::Result() const {
  RunResult result;
  const double now = has_begun_ ? ended_at_.value_or(run_.now) : meter_.start();
  result.totals = meter_.Totals(MeteredRun(), now);
  result.stopped_because = reason_;
  result.saved = evaluations_.best();
  result.rate_factor = job_.rate_factor();
  if (lanes_) result.lanes = lanes_->Results(reason_, result.totals.epoch);
  return result;
}

std::optional<SnapshotId> JobRun::saved_snapshot() const {
  if (!evaluations_.best()) return std::nullopt;
  return evaluations_.best_snapshot();
}

}  // namespace hogbatch
