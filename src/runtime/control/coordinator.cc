#include "runtime/control/coordinator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"

namespace hogbatch {
namespace {

// How often a run goes back to its best model at half the learning rate.
constexpr std::int64_t kMostRollbacks = 3;

JobSpec PrepareOne(Algorithm& algorithm, const Coordinator::Setup& setup) {
  std::vector<JobSpec> jobs = algorithm.Prepare({setup.job}, setup.workers);
  Check(jobs.size() == 1, "one job at a time");
  return jobs.front();
}

}  // namespace

Coordinator::Coordinator(Algorithm& algorithm, const Setup& setup)
    : algorithm_(algorithm),
      rules_(setup.rules),
      merge_rows_(setup.merge_rows),
      task_seconds_(setup.task_seconds),
      silence_seconds_(setup.silence_seconds),
      job_(PrepareOne(algorithm, setup), setup.rules.epochs, setup.rates, setup.seed),
      evaluations_(setup.rows),
      stop_rules_(setup.rules),
      meter_(setup.workers, setup.rules),
      workers_(setup.workers, setup.max_batch_size),
      place_at_snapshot_(job_.place()),
      good_place_(job_.place()) {}

const Coordinator::Actions& Coordinator::Handle(const Event& event, double now) {
  if (!std::exchange(started_, true)) meter_.Start(MeteredRun(), now);
  now_ = now;
  if (checkpoint_.ready()) checkpoint_.End();
  actions_.tasks.clear();
  actions_.reports.clear();
  actions_.failures.clear();
  actions_.warnings.clear();

  if (const auto* report = std::get_if<Report>(&event)) {
    OnReport(*report);
  } else if (const auto* failure = std::get_if<Failure>(&event)) {
    OnFailure(*failure);
  } else if (std::holds_alternative<Interrupt>(event)) {
    if (!evaluations_.SkipTrainingRows()) evaluated_at_ = -1;
    Stop(StopReason::kInterrupted);
  } else if (std::holds_alternative<Woken>(event)) {
    workers_.ForgiveSilence(now_);
  } else if (std::holds_alternative<CheckpointRequest>(event)) {
    checkpoint_.Request();
  }
  CheckSilence();
  CheckRollback();
  CheckStop();
  CheckCheckpoint();
  CheckEvaluation();
  if (!checkpoint_.ready()) SendTasks();
  if (now_ >= meter_.next_report()) actions_.reports.push_back(meter_.Report(MeteredRun(), now_));
  return actions_;
}

void Coordinator::OnReport(const Report& report) {
  if (!workers()[report.worker].live) return;  // it was given up, and answers now
  const Task task = workers_.Take(report, now_);
  if (IsEvaluation(task)) {
    OnEvaluated(task, report);
  } else if (task.kind == TaskKind::kSave) {
    checkpoint_.OnDone();
  } else if (task.kind == TaskKind::kRestore) {
    rollback_.OnDone();
  } else if (task.kind == TaskKind::kApply) {
    job_.CompleteSlice();
  } else {
    OnTrained(task, report);
  }
}

void Coordinator::OnTrained(const Task& task, const Report& report) {
  workers_.AddTrained(task, report);
  meter_.AddStaleness(report.staleness);
  job_.Complete(task, report);
  algorithm_.Observe({.worker = report.worker,
                      .job = task.job,
                      .rows = task.rows.size(),
                      .updates = report.updates,
                      .seconds = report.seconds});
  if (!std::isfinite(report.loss_sum)) Diverge("the loss is NaN or infinite");
  if (job_.round().gathered()) job_.MakeSlices(workers_.states());
}

void Coordinator::OnEvaluated(const Task& task, const Report& report) {
  meter_.AddEvaluationSeconds(report.seconds / workers_.live());
  if (report.beta) meter_.SetBeta(*report.beta);
  if (report.has_exploded) return Diverge(fmt::format("weights exceed {:g}", kLargestWeight));
  const std::optional<Evaluation> evaluation = evaluations_.Finish(task, report);
  if (!evaluation) return;
  Progress progress = at_snapshot_;
  progress.evaluation = evaluation;
  progress.best = evaluations_.best() && evaluations_.best()->epoch == evaluation->epoch;
  actions_.reports.push_back(progress);
  if (const std::string why = evaluations_.WhyDiverged(*evaluation); !why.empty()) {
    // No learning rate makes the initial model better.
    return evaluation->epoch == 0 ? Stop(StopReason::kDiverged) : Diverge(why);
  }
  if (progress.best) good_place_ = place_at_snapshot_;
  const StopReason reason = stop_rules_.Judge(*evaluation);
  if (reason != StopReason::kNone) Stop(reason);
}

void Coordinator::OnFailure(const Failure& failure) {
  if (!workers()[failure.worker].live) return;
  if (checkpoint_.under_way()) checkpoint_.End();
  if (rollback_.under_way()) {
    rollback_.End();
    rollback_.Request();
  }
  meter_.AddFailure(failure);
  actions_.failures.push_back(failure);
  for (const Task& task : workers_.Fail(failure.worker)) TakeBack(task, failure);
  if (const WorkerState* heir = workers_.FirstLive()) {
    job_.round().Reassign(failure.worker, heir->id);
  } else {
    job_.AbandonRound();
    Stop(StopReason::kNoWorkers);
  }
}

// A task of a worker that failed.
void Coordinator::TakeBack(const Task& task, const Failure& failure) {
  if (IsEvaluation(task)) return evaluations_.Return(task);
  if (task.kind == TaskKind::kApply) return job_.round().ReturnSlice(task);
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

void Coordinator::CheckSilence() {
  while (const auto silence = workers_.NextSilence(silence_seconds_)) {
    if (now_ < silence->ends) return;
    OnFailure({.worker = silence->worker,
               .what = fmt::format("it has not answered for {:.0f} s and is given up",
                                   now_ - silence->since),
               .task = silence->task,
               .torn = {},
               .hangs = true});
  }
}

void Coordinator::Stop(StopReason reason) {
  // The first reason stands, unless the model diverged or no worker is left to evaluate it.
  const bool final = reason == StopReason::kDiverged || reason == StopReason::kNoWorkers;
  if (reason_ == StopReason::kNone || final) reason_ = reason;
  if (final) evaluations_.Abandon();
}

// Goes back to the best model, if that may help.
void Coordinator::Diverge(std::string_view why) {
  if (rollback_.active()) return;
  const bool goes_on = reason_ == StopReason::kNone || reason_ == StopReason::kEpochs;
  if (!goes_on || rollbacks_ == kMostRollbacks) return Stop(StopReason::kDiverged);
  ++rollbacks_;
  actions_.warnings.push_back(fmt::format(
      "training diverged at epoch {:.4g} ({}); it goes back to the model of epoch {:.4g} at half "
      "the learning rate, as with --lr {:g} (attempt {} of {})",
      job_.epoch(), why, evaluations_.best() ? evaluations_.best()->epoch : 0,
      job_.rates().base() * job_.rate_factor() / 2, rollbacks_, kMostRollbacks));
  reason_ = StopReason::kNone;
  evaluations_.Abandon();
  checkpoint_.End();
  rollback_.Request();
}

void Coordinator::CheckRollback() {
  if (reason_ == StopReason::kNoWorkers) rollback_.End();
  if (rollback_.ready()) {
    rollback_.End();
    RollBack();
  }
  if (rollback_.wanted() && !workers_.any_busy()) rollback_.Begin(workers());
}

// The workers have gone back already.
void Coordinator::RollBack() {
  job_.GoBackTo(good_place_);
  meter_.Restart(MeteredRun(), now_);
  evaluated_at_ = evaluations_.best() ? job_.examples() : -1;
  next_evaluation_ = evaluations_.best() ? EvaluationAfter(job_.epoch()) : 0;
}

void Coordinator::CheckStop() {
  if (reason_ != StopReason::kNone || rollback_.active()) return;
  if (job_.finished()) Stop(StopReason::kEpochs);
  if (now_ >= meter_.start() + rules_.max_seconds) Stop(StopReason::kMaxTime);
}

// A checkpoint waits for the evaluation under way, beside which training goes on. Then it goes
// before the next evaluation. A synchronous round is finished first.
bool Coordinator::runs_dry() const {
  return checkpoint_.wanted() && !evaluations_.under_way() && !job_.round().open() &&
         !rollback_.active();
}

void Coordinator::CheckCheckpoint() {
  if (reason_ == StopReason::kDiverged || reason_ == StopReason::kNoWorkers) checkpoint_.End();
  if (runs_dry() && job_.quiet() && !workers_.any_busy()) checkpoint_.Begin(workers());
}

// An evaluation is due at the start, every `eval_every` epochs, and at the end if the model changed
// since the last one.
void Coordinator::CheckEvaluation() {
  if (evaluations_.under_way() || evaluated_at_ == job_.examples()) return;
  if (runs_dry() || checkpoint_.under_way() || checkpoint_.ready() || rollback_.active()) return;
  if (!std::isfinite(rules_.eval_every)) return;
  if (reason_ == StopReason::kDiverged || reason_ == StopReason::kNoWorkers) return;
  const bool stopping = reason_ != StopReason::kNone;
  const bool due = stopping ? job_.quiet() : job_.epoch() >= next_evaluation_;
  // A round that is applied only in part does not give a model.
  if (!due || job_.round().open()) return;
  evaluated_at_ = job_.examples();
  next_evaluation_ = EvaluationAfter(job_.epoch());
  at_snapshot_ = meter_.Report(MeteredRun(), now_);
  place_at_snapshot_ = job_.place();
  evaluations_.Begin(job_.epoch());
}

double Coordinator::EvaluationAfter(double epoch) const {
  return (std::floor(epoch / rules_.eval_every) + 1) * rules_.eval_every;
}

void Coordinator::SendTasks() {
  for (const WorkerState& worker : workers()) {
    while (worker.live && worker.outstanding < worker.device.depth) {
      std::optional<Task> task = NextTask(worker);
      if (!task) break;
      task->worker = worker.id;
      if (task->id == 0) task->id = next_id_++;
      workers_.Send(*task, now_);
      actions_.tasks.push_back(*task);
    }
  }
}

std::optional<Task> Coordinator::NextTask(const WorkerState& worker) {
  if (checkpoint_.under_way()) return checkpoint_.Next(worker.id);
  if (rollback_.active()) {
    std::optional<Task> task = rollback_.Next(worker.id);
    if (task) task->snapshot = evaluations_.best_snapshot();
    return task;
  }
  if (auto slice = job_.round().NextSlice(worker.id)) return slice;
  if (MayEvaluateNow(worker)) {
    if (auto task = evaluations_.Next()) return task;
  }
  if (reason_ == StopReason::kNone && !job_.round().applying() && !runs_dry()) {
    if (auto task = NextTrainingTask(worker)) return task;
  }
  return evaluations_.Next();
}

// Half of the workers may evaluate while the others go on training. In synchronous training the
// choice must not depend on speed, since it decides which worker trains which rows.
bool Coordinator::MayEvaluateNow(const WorkerState& worker) const {
  if (workers_.evaluating() >= std::max(1, workers_.live() / 2)) return false;
  return synchronous_ || workers_.IsFastEnoughToEvaluate(worker);
}

std::optional<Task> Coordinator::NextTrainingTask(const WorkerState& worker) {
  const JobState job = job_.state();
  const JobTable table{.jobs = {&job, 1}, .workers = workers()};
  std::optional<Assignment> assignment = algorithm_.Assign(worker, table);
  if (!assignment) return std::nullopt;
  synchronous_ = assignment->hold;
  if (worker.max_batch_size > 0) {
    assignment->batch_size = std::min(assignment->batch_size, worker.max_batch_size);
  }
  const std::int32_t updates = assignment->hold
                                   ? 1
                                   : UpdatesPerTask({.worker = worker,
                                                     .batch_size = assignment->batch_size,
                                                     .task_seconds = task_seconds_},
                                                    table);
  std::optional<Task> task =
      job_.NextTask(next_id_, {.assignment = *assignment,
                               .updates = updates,
                               .merge_rows = MergeRows(worker),
                               .staleness = workers_.StalenessInUpdates(worker, job_.rates())});
  if (task) ++next_id_;
  return task;
}

// A worker that trains in the shared weights merges every update by itself.
std::int64_t Coordinator::MergeRows(const WorkerState& worker) const {
  if (worker.device.shares_host_memory) return 1;
  return worker.max_batch_size > 0 ? std::min(merge_rows_, worker.max_batch_size) : merge_rows_;
}

void Coordinator::VisitState(StateVisitor& visitor) {
  Visit(visitor, "job", job_);
  Visit(visitor, "evaluations", evaluations_);
  Visit(visitor, "stop_rules", stop_rules_);
  visitor.Begin("meter");
  meter_.VisitState(visitor, now_);
  visitor.End();
  Visit(visitor, "synchronous", synchronous_);
  Visit(visitor, "next_id", next_id_);
  Visit(visitor, "next_evaluation", next_evaluation_);
  Visit(visitor, "evaluated_at", evaluated_at_);
  Visit(visitor, "good_place", good_place_);
  Visit(visitor, "rollbacks", rollbacks_);
  std::vector<std::string> names;
  for (const WorkerState& worker : workers()) names.push_back(worker.device.name);
  const std::vector<std::string> mine = names;
  Visit(visitor, "worker_names", names);
  if (names != mine) return;
  Visit(visitor, "workers", workers_);
  visitor.Begin("algorithm");
  algorithm_.VisitState(visitor);
  visitor.End();
}

ProgressMeter::Run Coordinator::MeteredRun() const {
  return {.job = job_, .workers = workers(), .algorithm = algorithm_};
}

bool Coordinator::done() const {
  if (reason_ == StopReason::kNone) return false;
  return !workers_.any_busy() && !evaluations_.under_way() && !rollback_.active();
}

double Coordinator::next_tick() const {
  double report = meter_.next_report();
  if (const auto silence = workers_.NextSilence(silence_seconds_)) {
    report = std::min(report, silence->ends);
  }
  if (reason_ != StopReason::kNone) return report;
  return std::min(report, meter_.start() + rules_.max_seconds);
}

RunResult Coordinator::Result() const {
  RunResult result;
  result.totals = meter_.Totals(MeteredRun(), now_);
  result.stopped_because = reason_;
  result.saved = evaluations_.best();
  result.rate_factor = job_.rate_factor();
  return result;
}

std::optional<SnapshotId> Coordinator::saved_snapshot() const {
  if (!evaluations_.best()) return std::nullopt;
  return evaluations_.best_snapshot();
}

}  // namespace hogbatch
