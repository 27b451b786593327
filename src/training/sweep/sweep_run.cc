#include "training/sweep/sweep_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "training/model/labels.h"
#include "training/network.h"

namespace hogbatch {
namespace {

constexpr double kNoLoss = std::numeric_limits<double>::infinity();

std::vector<MetricScale> ScalesOf(const SweepPlan& plan) {
  std::vector<MetricScale> scales;
  for (const SweepInput& read : plan.inputs) {
    scales.push_back(
        ScaleOf(ChooseModel(plan.trials.front().spec, *read.input), read.input->training.schema));
  }
  return scales;
}

}  // namespace

SweepRun::SweepRun(SweepPlan plan, SweepFolder folder, EarlierSweep earlier,
                   SweepObserver& observer)
    : plan_(std::move(plan)),
      folder_(std::move(folder)),
      observer_(observer),
      scales_(ScalesOf(plan_)),
      metric_(MetricsOf({.rows = 1}, scales_.front()).front().name),
      results_(std::move(earlier.results)),
      tuner_(plan_.trials.size(), plan_.rungs, plan_.eta),
      kept_(folder_.path + "/trials", plan_.trials.size(), unneeded_,
            [&](std::string_view sentence) { observer_.OnWarning(sentence); }),
      devices_(plan_.devices, plan_.inputs, plan_.trials, plan_.core_cache_bytes),
      waiting_(devices_.shape_of()),
      models_(folder_, earlier.best, unneeded_, observer_) {
  results_.resize(plan_.trials.size());
  RestoreTuner();
  // It may have been killed when their models were not saved yet.
  for (std::size_t i = 0; has_folds() && i < results_.size(); i += plan_.inputs.size()) {
    if (IsOver(results_[i].state)) SaveSetting(i);
  }
}

void SweepRun::RestoreTuner() {
  for (std::size_t i = 0; i < results_.size(); ++i) {
    TrialResult& result = results_[i];
    // A sweep that was killed may have a checkpoint of a trial that its records do not know.
    if (result.state == TrialState::kWaiting && kept_.Read(i)) result.state = TrialState::kRunning;
    if (IsOver(result.state)) {
      kept_.Forget(i);
      tuner_.Restore(i, result.rung_losses, Tuner::Promotable::kNo);
    } else if (result.state == TrialState::kStopped) {
      tuner_.Restore(i, result.rung_losses, Tuner::Promotable::kYes);
    } else if (result.state != TrialState::kWaiting) {
      result.state = TrialState::kInterrupted;
      tuner_.RestoreUnfinished(i, result.rung_losses);
    }
  }
}

const SweepInput& SweepRun::InputOf(std::size_t trial) const {
  return plan_.inputs[plan_.trials[trial].fold];
}

void SweepRun::Run(const StopRequested& stop_requested) {
  QueueObserver& observer = *this;
  const Pinning pinning = plan_.trials.front().spec.no_pin ? Pinning::kNone : Pinning::kCores;
  queue_ = std::make_unique<Queue>(plan_.devices,
                                   QueueOptions{.pinning = pinning, .stays_open = true}, observer);
  AddStages();
  queue_->Run([&] {
    if (stop_requested && stop_requested()) stops_ = true;
    return stops_ || (open_.empty() && tuner_.done());
  });
  models_.SaveUnsaved();
  EndUnsaved();
  if (!complete()) return;
  unneeded_.push_back(folder_.path + "/trials");
  if (has_folds()) unneeded_.push_back(folder_.path + "/members");
}

bool SweepRun::complete() const {
  const auto goes_on = [](TrialState state) { return state == TrialState::kInterrupted; };
  return tuner_.done() && std::ranges::none_of(results_, goes_on, &TrialResult::state);
}

std::vector<std::string> SweepRun::TakeUnneeded() {
  if (models_.has_failed()) return {};
  return std::exchange(unneeded_, {});
}

void SweepRun::Fail(Tuner::Stage stage, std::string_view why) {
  TrialResult& result = results_[stage.trial];
  result.state = TrialState::kFailed;
  result.note = why;
  result.rung_losses.push_back(kNoLoss);
  tuner_.Finish(stage, kNoLoss, Tuner::Promotable::kNo);
  if (has_folds()) SaveSetting(stage.trial);
  observer_.OnWarning(fmt::format("trial {} has failed: {}", stage.trial + 1, why));
  observer_.OnTrial(stage.trial);
}

void SweepRun::OnPreparation(std::string_view worker, double seconds) {
  observer_.OnPreparation(worker, seconds);
}

void SweepRun::OnJobBegan(JobId job) {
  for (const Tuner::Stage stage : open_.at(job).stages) {
    results_[stage.trial].state = TrialState::kRunning;
  }
}

// Each trial has an equal share of the time of its lane group.
void SweepRun::OnProgress(JobId job, const Progress& progress) {
  const std::vector<Tuner::Stage>& stages = open_.at(job).stages;
  Progress share = progress;
  share.train_seconds /= static_cast<double>(stages.size());
  for (const Tuner::Stage stage : stages) {
    TrialResult& result = results_[stage.trial];
    if (IsOver(result.state)) continue;
    result.epoch = share.epoch;
    result.seconds = share.train_seconds;
    result.examples = share.examples;
  }
  if (!progress.evaluation) return;
  const std::size_t trial = stages[progress.lane].trial;
  results_[trial].curve.push_back(
      PointOf(*share.evaluation, share.train_seconds, scales_[plan_.trials[trial].fold]));
  observer_.OnTrial(trial);
}

// A trial that diverges goes back by itself; the table says how it ended.
void SweepRun::OnJobWarning(JobId job, std::string_view sentence) {
  for (const Tuner::Stage stage : open_.at(job).stages) results_[stage.trial].note = sentence;
}

void SweepRun::OnJobEnded(JobId job, const TrainedModel& trained, const JobTimes& times) {
  const LaneGroup group = std::move(open_.at(job));
  open_.erase(job);
  const RunResult& run = trained.run;
  if (!times.began) {  // else they wait for the sweep to go on
    const bool fails = run.stopped_because == StopReason::kNoWorkers;
    for (const Tuner::Stage stage : group.stages) {
      if (fails) Fail(stage, "there is no usable device for it");
    }
    return;
  }
  const std::size_t lanes = group.stages.size();
  for (std::size_t i = 0; i < lanes; ++i) {
    kept_.Set(group.stages[i].trial, {.folder = group.folder,
                                      .lane = static_cast<std::int64_t>(i),
                                      .is_lane = !trained.lanes.empty()});
  }
  const std::vector<StageEnd> ends = EndsOf(group, trained);
  const std::optional<std::size_t> best = BestOf(ends);
  bool has_best = true;
  if (best && !has_folds()) {
    has_best =
        models_.SaveIfBest(group.stages[*best].trial, *ends[*best].model, *ends[*best].loss());
  }
  for (std::size_t i = 0; i < lanes; ++i) {
    const bool fails = !has_best && i == best;
    End(group.stages[i], ends[i], fails ? Saving::kFailed : Saving::kSucceeded);
  }
}

std::vector<SweepRun::StageEnd> SweepRun::EndsOf(const LaneGroup& group,
                                                 const TrainedModel& trained) {
  const RunResult& run = trained.run;
  const double seconds = run.totals.train_seconds / static_cast<double>(group.stages.size());
  if (trained.lanes.empty()) {
    return {{.model = trained.model,
             .run = {.stopped_because = run.stopped_because,
                     .epoch = run.totals.epoch,
                     .saved = run.saved},
             .seconds = seconds,
             .examples = run.totals.examples,
             .updates = run.totals.updates}};
  }
  const auto rows =
      static_cast<double>(InputOf(group.stages.front().trial).input->training.train_rows);
  std::vector<StageEnd> ends;
  for (const TrainedLane& lane : trained.lanes) {
    ends.push_back({.model = lane.model,
                    .run = lane.run,
                    .seconds = seconds,
                    .examples = std::llround(lane.run.epoch * rows),
                    .updates = run.totals.updates});
  }
  return ends;
}

std::optional<double> SweepRun::StageEnd::loss() const {
  if (!run.saved || !run.saved->valid || EndedBadly(OutcomeAfter(run.stopped_because))) return {};
  return run.saved->valid->mean_loss();
}

std::optional<std::size_t> SweepRun::BestOf(std::span<const StageEnd> ends) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (!ends[i].has_model()) continue;
    if (!best || *ends[i].loss() < *ends[*best].loss()) best = i;
  }
  return best;
}

// A trial whose model cannot be saved has not ended: the sweep can go on with its checkpoint. A
// best model is tried again at the end of the sweep.
void SweepRun::End(Tuner::Stage stage, const StageEnd& end, Saving saving) {
  TrialResult& result = results_[stage.trial];
  result.state = OutcomeAfter(end.run.stopped_because);
  result.epoch = end.run.epoch;
  result.seconds = end.seconds;
  result.examples = end.examples;
  if (end.run.saved) AddIfMissing(stage.trial, *end.run.saved);
  const bool is_member = folder_.keeps_members || has_folds();
  bool has_member = true;
  if (is_member && result.state == TrialState::kDone && end.has_model()) {
    has_member = models_.SaveMember(stage.trial, *end.model);
  }
  if (IsOver(result.state) && !(saving == Saving::kSucceeded && has_member)) {
    if (has_member) unsaved_.push_back({stage.trial, *end.loss(), end.run.stopped_because});
    result.state = TrialState::kInterrupted;
    result.note = "its model cannot be saved";
    tuner_.Finish(stage, kNoLoss, Tuner::Promotable::kNo);
  } else if (result.state != TrialState::kInterrupted) {
    result.rung_losses.push_back(end.loss().value_or(kNoLoss));
    tuner_.Finish(stage, result.rung_losses.back(),
                  IsOver(result.state) ? Tuner::Promotable::kNo : Tuner::Promotable::kYes);
    if (IsOver(result.state)) result.note = Name(end.run.stopped_because);
  }
  if (IsOver(result.state)) kept_.Forget(stage.trial);
  if (has_folds()) SaveSetting(stage.trial);
  observer_.OnTrial(stage.trial);
}

void SweepRun::EndUnsaved() {
  if (models_.lacks_best()) return;
  for (const UnsavedEnd& end : std::exchange(unsaved_, {})) {
    TrialResult& result = results_[end.trial];
    result.state = TrialState::kDone;
    result.rung_losses.push_back(end.loss);
    result.note = Name(end.reason);
    kept_.Forget(end.trial);
    observer_.OnTrial(end.trial);
  }
}

// A sweep that was killed may have checkpoints of evaluations that its records do not know.
void SweepRun::AddIfMissing(std::size_t trial, const Evaluation& evaluation) {
  TrialResult& result = results_[trial];
  const auto place =
      std::ranges::lower_bound(result.curve, evaluation.epoch - 1e-9, {}, &TrialPoint::epoch);
  if (place != result.curve.end() && place->epoch <= evaluation.epoch + 1e-9) return;
  result.curve.insert(place,
                      PointOf(evaluation, result.seconds, scales_[plan_.trials[trial].fold]));
}

void SweepRun::SaveSetting(std::size_t trial) {
  const std::size_t folds = plan_.inputs.size(), first = trial / folds * folds;
  const std::span results = std::span(results_).subspan(first, folds);
  if (!std::ranges::all_of(results, IsOver, &TrialResult::state)) return;
  models_.SaveIfBestSetting(first, {.metric = metric_,
                                    .trials = std::span(plan_.trials).subspan(first, folds),
                                    .results = results});
}

void SweepRun::OnWorkerFailed(std::string_view worker, std::string_view what) {
  observer_.OnWarning(fmt::format("worker {} failed: {}", worker, what));
}

void SweepRun::OnPoll() {
  if (!stops_) AddStages();
  observer_.OnPoll();
}

}  // namespace hogbatch
