#include "training/sweep/sweep_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "training/checkpoint/spec_text.h"
#include "training/job_parts.h"
#include "training/network.h"

namespace hogbatch {
namespace {

constexpr double kNoLoss = std::numeric_limits<double>::infinity();

// Plans are made while jobs run, and say nothing that the first one did not.
class SilentObserver final : public TrainingObserver {
 public:
  void OnWarning(std::string_view) override {}
  void OnProgress(const Progress&) override {}
  void OnWorkerFailed(std::string_view, std::string_view) override {}
};

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

MetricScale ScaleOf(const SweepPlan& plan) {
  return {.loss = ChooseModel(plan.trials.front().spec, *plan.input).loss,
          .target_deviation = plan.input->training.schema.target_deviation};
}

}  // namespace

SweepRun::SweepRun(SweepPlan plan, SweepFolder folder, EarlierSweep earlier,
                   SweepObserver& observer)
    : plan_(std::move(plan)),
      folder_(std::move(folder)),
      observer_(observer),
      scale_(ScaleOf(plan_)),
      metric_(MetricsOf({.rows = 1}, scale_).front().name),
      results_(std::move(earlier.results)),
      tuner_(plan_.trials.size(), plan_.rungs.size(), plan_.eta),
      best_loss_(earlier.best_loss) {
  results_.resize(plan_.trials.size());
  RestoreTuner();
}

void SweepRun::RestoreTuner() {
  for (std::size_t i = 0; i < results_.size(); ++i) {
    TrialResult& result = results_[i];
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

// A job that waits for each worker is enough to keep all of them busy, and later decisions know
// more results.
void SweepRun::AddLegs() {
  const std::size_t most = 2 * plan_.devices.chosen.size();
  while (open_.size() < most) {
    const std::optional<Tuner::Leg> leg = tuner_.Next();
    if (!leg) return;
    try {
      AddLeg(*leg);
    } catch (const Error& error) {
      Fail(*leg, error.what());
    }
  }
}

void SweepRun::AddLeg(Tuner::Leg leg) {
  const TrainingSpec& spec = plan_.trials[leg.trial].spec;
  TrialResult& result = results_[leg.trial];
  SilentObserver silent;
  TrainingPlan plan = PlanInQueue(spec, *plan_.input, plan_.devices, FindScheduler("fifo"),
                                  Sharing::kExclusive, silent);
  // The learning rate is that of all epochs, whatever the rung is.
  if (leg.rung + 1 < plan_.rungs.size()) plan.rules.pause_epoch = plan_.rungs[leg.rung];
  const std::shared_ptr<const Checkpoint> resume = FindCheckpoint(leg.trial);
  const double from = resume ? static_cast<double>(TrainedRows(*resume, FolderOf(leg.trial))) /
                                   static_cast<double>(plan_.input->training.train_rows)
                             : 0;
  std::erase_if(result.curve,
                [&](const TrialPoint& point) { return resume ? point.epoch > from + 1e-9 : true; });
  const JobId job = queue_->Add({.plan = std::move(plan),
                                 .input = plan_.input,
                                 .place = {.sharing = Sharing::kExclusive},
                                 .keep = KeepOptions{.folder = FolderOf(leg.trial),
                                                     .options = SpecToJson(spec),
                                                     .every = folder_.checkpoint_every,
                                                     .best = KeepOptions::Best::kInCheckpoints,
                                                     .data = plan_.rows},
                                 .resume = resume});
  open_[job] = leg;
}

// The newest one that can be read; null: the trial begins.
std::shared_ptr<const Checkpoint> SweepRun::FindCheckpoint(std::size_t trial) {
  if (results_[trial].state == TrialState::kWaiting) return nullptr;
  for (const std::string& path : ListCheckpoints(FolderOf(trial))) {
    try {
      return std::make_shared<Checkpoint>(ReadCheckpoint(path));
    } catch (const UserError& error) {
      observer_.OnWarning(fmt::format("trial {}: {}", trial + 1, error.what()));
    }
  }
  return nullptr;
}

void SweepRun::Fail(Tuner::Leg leg, std::string_view why) {
  TrialResult& result = results_[leg.trial];
  result.state = TrialState::kFailed;
  result.note = why;
  result.rung_losses.push_back(kNoLoss);
  tuner_.Finish(leg, kNoLoss, Tuner::After::kOver);
  observer_.OnTrial(leg.trial);
}

std::string SweepRun::FolderOf(std::size_t trial) const {
  return fmt::format("{}/trials/{}", folder_.path, trial + 1);
}

// The checkpoints of a trial that is over.
void SweepRun::Forget(std::size_t trial) const {
  std::error_code error;
  std::filesystem::remove_all(FolderOf(trial), error);
}

void SweepRun::OnPreparation(std::string_view worker, double seconds) {
  observer_.OnPreparation(worker, seconds);
}

void SweepRun::OnJobBegan(JobId job) { results_[open_.at(job).trial].state = TrialState::kRunning; }

void SweepRun::OnProgress(JobId job, const Progress& progress) {
  const std::size_t trial = open_.at(job).trial;
  TrialResult& result = results_[trial];
  result.epoch = progress.epoch;
  result.seconds = progress.train_seconds;
  result.examples = progress.examples;
  if (!progress.evaluation) return;
  result.curve.push_back(PointOf(progress, scale_));
  observer_.OnTrial(trial);
}

// A trial that diverges goes back by itself; the table says how it ended.
void SweepRun::OnJobWarning(JobId job, std::string_view sentence) {
  results_[open_.at(job).trial].note = sentence;
}

void SweepRun::OnJobEnded(JobId job, const TrainedModel& trained, const JobTimes& times) {
  const Tuner::Leg leg = open_.at(job);
  open_.erase(job);
  if (!times.began) {  // else it waits for the sweep to go on
    const bool fails = trained.run.stopped_because == StopReason::kNoWorkers;
    return fails ? Fail(leg, "there is no usable device for it") : void();
  }
  TrialResult& result = results_[leg.trial];
  const RunResult& run = trained.run;
  result.state = StateAfter(run.stopped_because);
  result.epoch = run.totals.epoch;
  result.seconds = run.totals.train_seconds;
  result.examples = run.totals.examples;
  SaveIfBest(leg.trial, trained);
  if (result.state != TrialState::kInterrupted) {
    const bool has_loss = run.saved && run.saved->valid && result.state != TrialState::kDiverged &&
                          result.state != TrialState::kFailed;
    const double loss = has_loss ? run.saved->valid->mean_loss() : kNoLoss;
    result.rung_losses.push_back(loss);
    tuner_.Finish(leg, loss, IsOver(result.state) ? Tuner::After::kOver : Tuner::After::kMayGoOn);
    if (IsOver(result.state)) result.note = Name(run.stopped_because);
  }
  if (IsOver(result.state)) Forget(leg.trial);
  observer_.OnTrial(leg.trial);
}

void SweepRun::SaveIfBest(std::size_t trial, const TrainedModel& trained) {
  if (!trained.model || !trained.run.saved || !trained.run.saved->valid) return;
  if (trained.run.totals.updates == 0) return;
  const double loss = trained.run.saved->valid->mean_loss();
  if (!(loss < best_loss_)) return;
  try {
    SaveModel(folder_.path + "/model.safetensors", *trained.model);
    best_loss_ = loss;
    observer_.OnBest(trial);
  } catch (const Error& error) {
    observer_.OnWarning(fmt::format("trial {} is the best so far: {}", trial + 1, error.what()));
  }
}

void SweepRun::OnWorkerFailed(std::string_view worker, std::string_view what) {
  observer_.OnWarning(fmt::format("worker {} failed: {}", worker, what));
}

void SweepRun::OnPoll() {
  if (!stops_) AddLegs();
  observer_.OnPoll();
}

}  // namespace hogbatch
