#include "runtime/control/coordinator.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/error.h"
#include "runtime/control/task_length.h"
#include "runtime/control/totals.h"

namespace hogbatch {
namespace {

JobSpec PrepareOne(Algorithm& algorithm, const Coordinator::Setup& setup) {
  std::vector<JobSpec> jobs = algorithm.Prepare({setup.job}, setup.workers);
  Check(jobs.size() == 1, "one job at a time");
  return jobs.front();
}

// Until a worker among others has merged, its updates are taken for stale.
constexpr double kNotYetKnown = std::numeric_limits<double>::infinity();

bool IsEvaluation(const Task& task) {
  return task.kind == TaskKind::kSnapshot || task.kind == TaskKind::kEvaluate;
}

}  // namespace

Coordinator::Coordinator(Algorithm& algorithm, const Setup& setup)
    : algorithm_(algorithm),
      rules_(setup.rules),
      merge_rows_(setup.merge_rows),
      job_(PrepareOne(algorithm, setup), setup.rules.epochs, setup.rates, setup.seed),
      rounds_(setup.rows),
      stop_rules_(setup.rules),
      teams_(MakeTeams(setup.workers)),
      failures_(setup.workers.size()),
      in_flight_(setup.workers.size()),
      live_(static_cast<int>(setup.workers.size())),
      reported_rows_(teams_.names.size()) {
  for (std::size_t i = 0; i < setup.workers.size(); ++i) {
    workers_.push_back(
        {.id = static_cast<WorkerId>(i),
         .device = setup.workers[i],
         .team = teams_.of_worker[i],
         .max_batch_size = i < setup.max_batch_size.size() ? setup.max_batch_size[i] : 0,
         .staleness = setup.workers.size() > 1 ? kNotYetKnown : 0});
  }
}

const Coordinator::Actions& Coordinator::Handle(const Event& event, double now) {
  if (!started_) {
    started_ = true;
    start_ = reported_at_ = now;
  }
  now_ = now;
  actions_.tasks.clear();
  actions_.reports.clear();
  actions_.failures.clear();

  if (const auto* report = std::get_if<Report>(&event)) {
    OnReport(*report);
  } else if (const auto* failure = std::get_if<Failure>(&event)) {
    OnFailure(*failure);
  } else if (std::holds_alternative<Interrupt>(event)) {
    if (!rounds_.SkipTrainingRows()) evaluated_at_ = -1;
    Stop(StopReason::kInterrupted);
  }
  CheckStop();
  CheckEvaluation();
  Dispatch();
  if (now_ >= reported_at_ + rules_.report_every) actions_.reports.push_back(ReportProgress());
  return actions_;
}

void Coordinator::OnReport(const Report& report) {
  const auto worker_index = static_cast<std::size_t>(report.worker);
  WorkerState& worker = workers_[worker_index];
  std::vector<Task>& in_flight = in_flight_[worker_index];
  const auto found = std::find_if(in_flight.begin(), in_flight.end(),
                                  [&](const Task& task) { return task.id == report.task; });
  Check(found != in_flight.end(), "a report for a task its worker does not have");
  const Task task = *found;
  in_flight.erase(found);
  --worker.outstanding;
  worker.busy_seconds += report.seconds;

  if (IsEvaluation(task)) {
    --evaluating_;
    --worker.evaluations;
    evaluation_seconds_ += report.seconds / live_;
    if (report.beta) beta_ = report.beta;
    if (const auto evaluation = rounds_.Finish(task, report)) OnEvaluated(*evaluation);
  } else if (task.kind == TaskKind::kApply) {
    if (--open_slices_ == 0) job_.CompleteRound();
  } else {
    OnTraining(task, report);
  }
}

void Coordinator::OnTraining(const Task& task, const Report& report) {
  WorkerState& worker = workers_[static_cast<std::size_t>(report.worker)];
  worker.updates += report.updates;
  worker.merges += report.merges;
  worker.rows += task.rows.size();
  worker.training_seconds += report.seconds;
  worker.seconds_per_row = SmoothedSecondsPerRow(
      worker.seconds_per_row, {.rows = task.rows.size(), .seconds = report.seconds});
  worker.batch_size = (task.rows.size() + report.updates - 1) / report.updates;
  if (report.max_batch_size > 0) worker.max_batch_size = report.max_batch_size;
  const auto staleness = static_cast<double>(report.staleness.total_staleness);
  worker.staleness = report.merges > 0 ? staleness / static_cast<double>(report.merges) : 0;
  staleness_ += report.staleness;
  job_.Complete(task, report);
  algorithm_.Observe({.worker = worker.id,
                      .job = task.job,
                      .rows = task.rows.size(),
                      .updates = report.updates,
                      .seconds = report.seconds});
  if (!std::isfinite(report.loss_sum)) Stop(StopReason::kDiverged);
  if (job_.round_gathered()) OpenSlices();
}

// Every live worker applies one slice of the step's gradients.
void Coordinator::OpenSlices() {
  for (const WorkerState& worker : workers_) {
    if (!worker.live) continue;
    slices_.push_back(job_.ApplySlice(open_slices_++, live_));
    slices_.back().worker = worker.id;
  }
}

void Coordinator::OnFailure(const Failure& failure) {
  const auto index = static_cast<std::size_t>(failure.worker);
  WorkerState& worker = workers_[index];
  if (!worker.live) return;
  worker.live = false;
  worker.outstanding = worker.evaluations = 0;
  --live_;
  failures_[index] = failure.what;
  actions_.failures.push_back(failure);
  if (live_ == 0) Stop(StopReason::kNoWorkers);

  const auto heir = std::find_if(workers_.begin(), workers_.end(),
                                 [](const WorkerState& other) { return other.live; });
  for (const Task& task : std::exchange(in_flight_[index], {})) {
    if (IsEvaluation(task)) {
      --evaluating_;
      rounds_.Return(task);
    } else if (task.kind == TaskKind::kTrain) {
      Job::Remains remains;
      if (task.id == failure.task) remains.merges_done = failure.merges_done;
      if (failure.torn && task.id == failure.torn->task) remains.torn = failure.torn->merge;
      worker.updates += remains.merges_done * task.updates_per_merge;
      worker.merges += remains.merges_done;
      worker.rows += Job::Done(task, remains).size();
      job_.Return(task, remains);
      if (job_.round_gathered()) OpenSlices();
    } else {
      slices_.push_back(task);
    }
  }
  if (heir == workers_.end()) return job_.AbandonRound();
  for (Task& slice : slices_) {
    if (slice.worker == failure.worker) slice.worker = heir->id;
  }
}

void Coordinator::OnEvaluated(const Evaluation& evaluation) {
  Progress progress = at_snapshot_;
  progress.evaluation = evaluation;
  progress.best = rounds_.best() && rounds_.best()->epoch == evaluation.epoch;
  actions_.reports.push_back(progress);
  const StopReason reason = stop_rules_.Judge(evaluation);
  if (reason != StopReason::kNone) Stop(reason);
}

void Coordinator::Stop(StopReason reason) {
  // The first reason stands, unless the model turns out to be worthless or nobody is left to
  // measure it.
  const bool final = reason == StopReason::kDiverged || reason == StopReason::kNoWorkers;
  if (reason_ == StopReason::kNone || final) reason_ = reason;
  if (final) rounds_.Abandon();
}

void Coordinator::CheckStop() {
  if (reason_ != StopReason::kNone) return;
  if (job_.finished()) Stop(StopReason::kEpochs);
  if (now_ >= start_ + rules_.max_seconds) Stop(StopReason::kMaxTime);
}

// An evaluation is due at the start, every `eval_every` epochs, and at the end if the model changed
// since.
void Coordinator::CheckEvaluation() {
  if (rounds_.under_way() || evaluated_at_ == job_.examples()) return;
  if (!std::isfinite(rules_.eval_every)) return;
  if (reason_ == StopReason::kDiverged || reason_ == StopReason::kNoWorkers) return;
  const bool stopping = reason_ != StopReason::kNone;
  const bool due = stopping ? job_.quiet() : job_.epoch() >= next_evaluation_;
  // A synchronous step half applied is no model.
  if (!due || job_.round_open()) return;
  evaluated_at_ = job_.examples();
  next_evaluation_ = (std::floor(job_.epoch() / rules_.eval_every) + 1) * rules_.eval_every;
  at_snapshot_ = ReportProgress();
  rounds_.Begin(job_.epoch());
}

void Coordinator::Dispatch() {
  for (WorkerState& worker : workers_) {
    while (worker.live && worker.outstanding < worker.device.depth) {
      std::optional<Task> task = NextTask(worker);
      if (!task) break;
      task->worker = worker.id;
      if (task->id == 0) task->id = next_id_++;
      if (IsEvaluation(*task)) {
        ++evaluating_;
        ++worker.evaluations;
      }
      ++worker.outstanding;
      in_flight_[static_cast<std::size_t>(worker.id)].push_back(*task);
      actions_.tasks.push_back(*task);
    }
  }
}

std::optional<Task> Coordinator::NextTask(const WorkerState& worker) {
  if (auto slice = NextSlice(worker.id)) return slice;
  // Half of the workers may evaluate while the others train on.
  if (evaluating_ < std::max(1, live_ / 2) && IsQuick(worker)) {
    if (auto task = rounds_.Next()) return task;
  }
  if (reason_ == StopReason::kNone && open_slices_ == 0) {
    if (auto task = NextTraining(worker)) return task;
  }
  return rounds_.Next();
}

// Rows are evaluated in parts that would keep a slow device from training for long: it leaves them
// to those that are more than twice as fast.
bool Coordinator::IsQuick(const WorkerState& worker) const {
  const auto speed = [](const WorkerState& of) {
    return of.training_seconds > 0 ? static_cast<double>(of.rows) / of.training_seconds : 0;
  };
  if (in_steps_) return true;  // who evaluates decides who trains, and must not depend on timing
  double best = 0;
  for (const WorkerState& other : workers_) {
    if (other.live) best = std::max(best, speed(other));
  }
  return worker.rows == 0 || 2 * speed(worker) >= best;
}

std::optional<Task> Coordinator::NextTraining(const WorkerState& worker) {
  const JobState job = job_.state();
  const JobTable table{.jobs = {&job, 1}, .workers = workers_};
  std::optional<Assignment> assignment = algorithm_.Assign(worker, table);
  if (!assignment) return std::nullopt;
  in_steps_ = assignment->hold;
  if (worker.max_batch_size > 0) {
    assignment->batch_size = std::min(assignment->batch_size, worker.max_batch_size);
  }
  const std::int32_t updates =
      assignment->hold ? 1 : UpdatesPerTask(worker, assignment->batch_size, table);
  std::optional<Task> task = job_.Cut(
      *assignment, next_id_,
      {.staleness = StalenessInSteps(worker), .merge_rows = MergeRows(worker), .updates = updates});
  if (task) ++next_id_;
  return task;
}

std::int64_t Coordinator::MergeRows(const WorkerState& worker) const {
  if (worker.device.shares_host_memory) return 1;
  return worker.max_batch_size > 0 ? std::min(merge_rows_, worker.max_batch_size) : merge_rows_;
}

// A merge of a small update moves the model less than a step at --lr and counts for as much less,
// one of a large update, or of several, more.
double Coordinator::StalenessInSteps(const WorkerState& worker) const {
  double merges = 0, steps = 0;
  for (const WorkerState& other : workers_) {
    if (other.id == worker.id || other.updates == 0) continue;
    merges += static_cast<double>(other.merges);
    steps += static_cast<double>(other.updates) * job_.rates().Scale(other.batch_size);
  }
  return merges > 0 ? worker.staleness * steps / merges : worker.staleness;
}

std::optional<Task> Coordinator::NextSlice(WorkerId worker) {
  const auto found = std::find_if(slices_.begin(), slices_.end(),
                                  [&](const Task& task) { return task.worker == worker; });
  if (found == slices_.end()) return std::nullopt;
  Task task = *found;
  slices_.erase(found);
  task.id = 0;
  return task;
}

Progress Coordinator::Totals() const {
  const double elapsed = now_ - start_;
  const double train = std::max(0.0, elapsed - evaluation_seconds_);
  const double span = std::max(train, 1e-9);
  return {.seconds = elapsed,
          .train_seconds = train,
          .epoch = job_.epoch(),
          .examples = job_.examples(),
          .updates = job_.updates(),
          .examples_per_second = static_cast<double>(job_.examples()) / span,
          .updates_per_second = static_cast<double>(job_.updates()) / span,
          .running_loss = {},
          .seconds_left = {},
          .evaluation = {},
          .workers = TotalsByWorker(workers_, failures_, elapsed),
          .teams = TotalsByTeam(teams_, workers_, span, {}),
          .held_teams = algorithm_.held_teams(),
          .staleness = staleness_,
          .beta = beta_,
          .lost_rows = job_.lost_rows()};
}

Progress Coordinator::ReportProgress() {
  Progress progress = Totals();
  const double span = std::max(now_ - reported_at_, 1e-9);
  const std::int64_t examples = progress.examples - reported_examples_;
  progress.examples_per_second = static_cast<double>(examples) / span;
  progress.updates_per_second = static_cast<double>(progress.updates - reported_updates_) / span;
  progress.teams = TotalsByTeam(teams_, workers_, span, reported_rows_);
  const std::int64_t known = job_.rows_with_loss() - reported_rows_with_loss_;
  if (known > 0) {
    progress.running_loss = (job_.loss_sum() - reported_loss_) / static_cast<double>(known);
  }
  if (progress.examples > 0) {
    const double per_example = progress.seconds / static_cast<double>(progress.examples);
    const double to_the_end = per_example * static_cast<double>(job_.state().remaining_rows);
    const double to_the_limit = std::max(0.0, rules_.max_seconds - progress.seconds);
    progress.seconds_left = std::min(to_the_end, to_the_limit);
  }
  reported_at_ = now_;
  reported_examples_ = progress.examples;
  reported_updates_ = progress.updates;
  reported_loss_ = job_.loss_sum();
  reported_rows_with_loss_ = job_.rows_with_loss();
  reported_rows_ = RowsByTeam(teams_, workers_);
  return progress;
}

bool Coordinator::done() const {
  if (reason_ == StopReason::kNone) return false;
  const bool outstanding =
      std::any_of(workers_.begin(), workers_.end(),
                  [](const WorkerState& worker) { return worker.outstanding > 0; });
  return !outstanding && !rounds_.under_way();
}

double Coordinator::next_tick() const {
  const double report = reported_at_ + rules_.report_every;
  return reason_ == StopReason::kNone ? std::min(report, start_ + rules_.max_seconds) : report;
}

RunResult Coordinator::Result() const {
  RunResult result;
  result.totals = Totals();
  result.stopped_because = reason_;
  result.saved = rounds_.best();
  return result;
}

std::optional<SnapshotId> Coordinator::saved_snapshot() const {
  if (!rounds_.best()) return std::nullopt;
  return rounds_.best_snapshot();
}

}  // namespace hogbatch
