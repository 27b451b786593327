#include "training/sweep/sweep_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "nn/lanes/lane_optimizer.h"
#include "training/checkpoint/spec_text.h"
#include "training/job_parts.h"
#include "training/network.h"

namespace hogbatch {
namespace {

constexpr double kNoLoss = std::numeric_limits<double>::infinity();

TrialState StateAfter(StopReason reason) {
  switch (reason) {
    case StopReason::kPaused:
      return TrialState::kStopped;
    case StopReason::kInterrupted:
      return TrialState::kInterrupted;
    case StopReason::kDiverged:
      return TrialState::kDiverged;
    case StopReason::kNoWorkers:
      return TrialState::kFailed;
    default:
      return TrialState::kDone;
  }
}

std::vector<MetricScale> ScalesOf(const SweepPlan& plan) {
  std::vector<MetricScale> scales;
  for (const SweepInput& read : plan.inputs) {
    scales.push_back({.loss = ChooseModel(plan.trials.front().spec, *read.input).loss,
                      .target_deviation = read.input->training.schema.target_deviation});
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
      kept_(folder_.path + "/trials", plan_.trials.size(),
            [&](std::string_view sentence) { observer_.OnWarning(sentence); }),
      devices_(plan_.devices, plan_.inputs, plan_.trials, plan_.core_cache_bytes),
      waiting_(devices_.group_of()),
      models_(folder_.path, earlier.best_loss, observer_) {
  results_.resize(plan_.trials.size());
  RestoreTuner();
}

void SweepRun::RestoreTuner() {
  for (std::size_t i = 0; i < results_.size(); ++i) {
    TrialResult& result = results_[i];
    // A sweep that was killed may have a checkpoint of a trial that its records do not know.
    if (result.state == TrialState::kWaiting && kept_.Read(i)) result.state = TrialState::kRunning;
    if (IsOver(result.state)) {
      tuner_.Restore(i, result.rung_losses, Tuner::After::kOver);
    } else if (result.state == TrialState::kStopped) {
      tuner_.Restore(i, result.rung_losses, Tuner::After::kMayGoOn);
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
  AddLegs();
  queue_->Run([&] {
    if (stop_requested && stop_requested()) stops_ = true;
    return stops_ || (open_.empty() && tuner_.done());
  });
  std::error_code error;
  if (complete()) std::filesystem::remove_all(folder_.path + "/trials", error);
}

// The kind of device whose workers have least to do; none: all have a job and one that waits.
std::optional<std::size_t> SweepRun::FreestKind() const {
  std::optional<std::size_t> freest;
  double least = 2;
  for (std::size_t kind = 0; kind < devices_.kinds(); ++kind) {
    const double per_worker =
        static_cast<double>(OpenOn(kind)) / static_cast<double>(devices_.workers(kind));
    if (per_worker >= least) continue;
    least = per_worker;
    freest = kind;
  }
  return freest;
}

std::size_t SweepRun::OpenOn(std::size_t kind) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(open_, [&](const auto& job) { return job.second.kind == kind; }));
}

// A job that waits for each worker is enough to keep all of them busy, and later decisions know
// more results. A block that is not full waits for promotions while all workers have work.
void SweepRun::AddLegs() {
  while (const std::optional<std::size_t> kind = FreestKind()) {
    const auto lanes = devices_.lanes(*kind);
    if (const auto full = waiting_.TakeFull(lanes)) {
      Add(*full, *kind);
    } else if (const std::optional<Tuner::Leg> leg = tuner_.Next()) {
      const auto checkpoint = FindCheckpoint(leg->trial);
      waiting_.Add(*leg, checkpoint ? RowsPlace(*checkpoint) : "");
    } else {
      const std::size_t workers = devices_.workers();
      if (plan_.rungs.size() > 1 && open_.size() >= workers) return;
      const std::size_t idle = open_.size() < workers ? workers - open_.size() : 1;
      const auto part = waiting_.TakePart(lanes, idle);
      if (!part) return;
      Add(*part, *kind);
    }
  }
}

// A trial that was alone when the sweep was stopped goes on alone, whatever this machine prefers.
bool SweepRun::TrainsAlone(std::size_t trial) const {
  const KeptTrials::Place* const kept = kept_.Find(trial);
  return kept ? !kept->in_block : devices_.trains_alone(devices_.group_of()[trial]);
}

void SweepRun::Add(const std::vector<Tuner::Leg>& legs, std::size_t kind) {
  Block block{.legs = {}, .folder = {}, .kind = kind};
  std::vector<TrainingPlan> plans;
  for (const Tuner::Leg leg : legs) {
    try {
      TrainingPlan plan = devices_.PlanOf(plan_.trials[leg.trial], kind);
      // The learning rate is that of all epochs, whatever the rung is.
      if (leg.rung + 1 < plan_.rungs.size()) plan.rules.pause_epoch = plan_.rungs[leg.rung];
      plan.rules.most_rollbacks = 0;  // a trial is judged at its own learning rate, as a lane is
      if (TrainsAlone(leg.trial)) {
        AddAlone({.legs = {leg}, .folder = {}, .kind = kind}, std::move(plan));
      } else {
        plans.push_back(std::move(plan));
        block.legs.push_back(leg);
      }
    } catch (const Error& error) {
      Fail(leg, error.what());
    }
  }
  if (plans.empty()) return;
  try {
    AddBlock(block, plans);
  } catch (const Error& error) {
    for (const Tuner::Leg leg : block.legs) Fail(leg, error.what());
  }
}

void SweepRun::AddAlone(Block block, TrainingPlan plan) {
  const std::size_t trial = block.legs.front().trial;
  block.folder = kept_.FolderOf(trial);
  Queued(std::move(block), std::move(plan), SpecToJson(plan_.trials[trial].spec),
         FindCheckpoint(trial));
}

void SweepRun::AddBlock(Block block, std::span<const TrainingPlan> plans) {
  TrainingPlan fused = FuseLanes(plans, *InputOf(block.legs.front().trial).input);
  std::vector<std::size_t> trials;
  std::vector<KeptLane> kept;
  std::vector<OptimizerOptions> optimizers;
  for (const LanePlan& lane : fused.lanes) {
    const std::size_t trial = block.legs[trials.size()].trial;
    trials.push_back(trial);
    optimizers.push_back(lane.optimizer);
    if (auto checkpoint = FindCheckpoint(trial)) {
      kept.push_back({std::move(checkpoint), kept_.Find(trial)->lane});
    }
  }
  std::shared_ptr<const Checkpoint> resume;
  if (kept.size() == trials.size()) {
    resume = std::make_shared<const Checkpoint>(
        FuseCheckpoints(kept, fused.work.model, StateArrays(optimizers)));
  }
  block.folder = kept_.NewBlock();
  Queued(std::move(block), std::move(fused), KeptTrials::BlockText(trials), std::move(resume));
}

void SweepRun::Queued(Block block, TrainingPlan plan, std::string options,
                      std::shared_ptr<const Checkpoint> resume) {
  const SweepInput& read = InputOf(block.legs.front().trial);
  const double from = resume ? static_cast<double>(TrainedRows(*resume, block.folder)) /
                                   static_cast<double>(read.input->training.train_rows)
                             : 0;
  const JobId job = queue_->Add({.plan = std::move(plan),
                                 .input = read.input,
                                 .place = {.sharing = Sharing::kExclusive},
                                 .keep = KeepOptions{.folder = block.folder,
                                                     .options = std::move(options),
                                                     .every = folder_.checkpoint_every,
                                                     .best = KeepOptions::Best::kInCheckpoints,
                                                     .data = read.rows},
                                 .resume = resume});
  for (const Tuner::Leg leg : block.legs) {
    std::erase_if(results_[leg.trial].curve, [&](const TrialPoint& point) {
      return resume ? point.epoch > from + 1e-9 : true;
    });
  }
  open_[job] = std::move(block);
}

// The newest one that can be read; null: the trial begins.
std::shared_ptr<const Checkpoint> SweepRun::FindCheckpoint(std::size_t trial) {
  if (results_[trial].state == TrialState::kWaiting) return nullptr;
  return kept_.Read(trial);
}

void SweepRun::Fail(Tuner::Leg leg, std::string_view why) {
  TrialResult& result = results_[leg.trial];
  result.state = TrialState::kFailed;
  result.note = why;
  result.rung_losses.push_back(kNoLoss);
  tuner_.Finish(leg, kNoLoss, Tuner::After::kOver);
  if (has_folds()) SaveSetting(leg.trial);
  observer_.OnTrial(leg.trial);
}

void SweepRun::OnPreparation(std::string_view worker, double seconds) {
  observer_.OnPreparation(worker, seconds);
}

void SweepRun::OnJobBegan(JobId job) {
  for (const Tuner::Leg leg : open_.at(job).legs) results_[leg.trial].state = TrialState::kRunning;
}

// Each trial has an equal share of the time of its block.
void SweepRun::OnProgress(JobId job, const Progress& progress) {
  const std::vector<Tuner::Leg>& legs = open_.at(job).legs;
  Progress share = progress;
  share.train_seconds /= static_cast<double>(legs.size());
  for (const Tuner::Leg leg : legs) {
    TrialResult& result = results_[leg.trial];
    if (IsOver(result.state)) continue;
    result.epoch = share.epoch;
    result.seconds = share.train_seconds;
    result.examples = share.examples;
  }
  if (!progress.evaluation) return;
  const std::size_t trial = legs[static_cast<std::size_t>(progress.lane)].trial;
  results_[trial].curve.push_back(
      PointOf(*share.evaluation, share.train_seconds, scales_[plan_.trials[trial].fold]));
  observer_.OnTrial(trial);
}

// A trial that diverges goes back by itself; the table says how it ended.
void SweepRun::OnJobWarning(JobId job, std::string_view sentence) {
  for (const Tuner::Leg leg : open_.at(job).legs) results_[leg.trial].note = sentence;
}

void SweepRun::OnJobEnded(JobId job, const TrainedModel& trained, const JobTimes& times) {
  const Block block = std::move(open_.at(job));
  open_.erase(job);
  const RunResult& run = trained.run;
  if (!times.began) {  // else they wait for the sweep to go on
    const bool fails = run.stopped_because == StopReason::kNoWorkers;
    for (const Tuner::Leg leg : block.legs) {
      if (fails) Fail(leg, "there is no usable device for it");
    }
    return;
  }
  const std::size_t lanes = block.legs.size();
  for (std::size_t i = 0; i < lanes; ++i) {
    kept_.Set(block.legs[i].trial, {.folder = block.folder,
                                    .lane = static_cast<std::int64_t>(i),
                                    .in_block = !trained.lanes.empty()});
  }
  const double seconds = run.totals.train_seconds / static_cast<double>(lanes);
  if (trained.lanes.empty()) {
    End(block.legs.front(), {.model = trained.model,
                             .run = {.stopped_because = run.stopped_because,
                                     .epoch = run.totals.epoch,
                                     .saved = run.saved},
                             .seconds = seconds,
                             .examples = run.totals.examples,
                             .updates = run.totals.updates});
  }
  const auto rows =
      static_cast<double>(InputOf(block.legs.front().trial).input->training.train_rows);
  for (std::size_t i = 0; i < trained.lanes.size(); ++i) {
    const TrainedLane& lane = trained.lanes[i];
    End(block.legs[i], {.model = lane.model,
                        .run = lane.run,
                        .seconds = seconds,
                        .examples = std::llround(lane.run.epoch * rows),
                        .updates = run.totals.updates});
  }
}

void SweepRun::End(Tuner::Leg leg, const LegEnd& end) {
  TrialResult& result = results_[leg.trial];
  result.state = StateAfter(end.run.stopped_because);
  result.epoch = end.run.epoch;
  result.seconds = end.seconds;
  result.examples = end.examples;
  if (end.run.saved) AddIfMissing(leg.trial, *end.run.saved);
  Save(leg.trial, end);
  if (result.state != TrialState::kInterrupted) {
    const bool has_loss = end.run.saved && end.run.saved->valid &&
                          result.state != TrialState::kDiverged &&
                          result.state != TrialState::kFailed;
    const double loss = has_loss ? end.run.saved->valid->mean_loss() : kNoLoss;
    result.rung_losses.push_back(loss);
    tuner_.Finish(leg, loss, IsOver(result.state) ? Tuner::After::kOver : Tuner::After::kMayGoOn);
    if (IsOver(result.state)) result.note = Name(end.run.stopped_because);
  }
  if (IsOver(result.state)) kept_.Forget(leg.trial);
  if (has_folds()) SaveSetting(leg.trial);
  observer_.OnTrial(leg.trial);
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

void SweepRun::Save(std::size_t trial, const LegEnd& end) {
  if (!end.model || !end.run.saved || !end.run.saved->valid || end.updates == 0) return;
  if (!has_folds()) models_.SaveIfBest(trial, *end.model, end.run.saved->valid->mean_loss());
  const bool is_member = folder_.keeps_members || has_folds();
  if (is_member && results_[trial].state == TrialState::kDone) {
    models_.SaveMember(trial, *end.model);
  }
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
  if (!stops_) AddLegs();
  observer_.OnPoll();
}

}  // namespace hogbatch
