// How the stages of a sweep become jobs: alone, or as lanes of a lane group.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/error.h"
#include "core/guard/folder.h"
#include "nn/lanes/lane_optimizer.h"
#include "training/checkpoint/kept_paths.h"
#include "training/checkpoint/spec_text.h"
#include "training/job_parts.h"
#include "training/sweep/sweep_run.h"

namespace hogbatch {
namespace {

constexpr double kNoPause = std::numeric_limits<double>::infinity();

}  // namespace

// The kind of device whose workers have least to do; none: all have a job and one that waits.
std::optional<std::size_t> SweepRun::LeastBusyKind() const {
  std::optional<std::size_t> least_busy;
  double least = 2;
  for (std::size_t kind = 0; kind < devices_.kinds(); ++kind) {
    const double per_worker =
        static_cast<double>(OpenOn(kind)) / static_cast<double>(devices_.workers(kind));
    if (per_worker >= least) continue;
    least = per_worker;
    least_busy = kind;
  }
  return least_busy;
}

std::size_t SweepRun::OpenOn(std::size_t kind) const {
  return std::ranges::count_if(open_, [&](const auto& job) { return job.second.kind == kind; });
}

// A job that waits for each worker is enough to keep all of them busy, and later decisions know
// more results. A lane group that is not full waits for promotions while all workers have work.
void SweepRun::AddStages() {
  while (const std::optional<std::size_t> kind = LeastBusyKind()) {
    const auto lanes = devices_.lanes(*kind);
    if (const auto full = waiting_.TakeFull(lanes)) {
      Add(*full, *kind);
    } else if (const std::optional<Tuner::Stage> stage = tuner_.Next()) {
      waiting_.Add(*stage, PlaceOf(stage->trial));
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

// Where among the rows the trial stands; empty: at the start.
std::string SweepRun::PlaceOf(std::size_t trial) {
  try {
    const auto checkpoint = FindCheckpoint(trial);
    return checkpoint ? RowsPlace(*checkpoint) : "";
  } catch (const Error& error) {
    BeginAgain(trial, error.what());
    return "";
  }
}

void SweepRun::BeginAgain(std::size_t trial, std::string_view why) {
  observer_.OnWarning(fmt::format("trial {} begins again: {}", trial + 1, why));
  kept_.Lose(trial);
}

// A trial that was alone when the sweep was stopped goes on alone, whatever this machine prefers.
bool SweepRun::TrainsAlone(std::size_t trial) const {
  const KeptTrials::Place* const kept = kept_.Find(trial);
  return kept ? !kept->is_lane : devices_.trains_alone(devices_.shape_of()[trial]);
}

void SweepRun::Add(const std::vector<Tuner::Stage>& stages, std::size_t kind) {
  LaneGroup group{.stages = {}, .folder = {}, .kind = kind};
  std::vector<TrainingPlan> plans;
  for (const Tuner::Stage stage : stages) {
    try {
      // The learning rate is that of all epochs, whatever the rung is.
      const bool is_last = stage.rung + 1 == plan_.rungs.size();
      TrainingPlan plan = devices_.PlanOf(plan_.trials[stage.trial], kind,
                                          is_last ? kNoPause : plan_.rungs[stage.rung]);
      if (TrainsAlone(stage.trial)) {
        AddAlone({.stages = {stage}, .folder = {}, .kind = kind}, plan);
      } else {
        plans.push_back(std::move(plan));
        group.stages.push_back(stage);
      }
    } catch (const Error& error) {
      Fail(stage, error.what());
    }
  }
  if (!plans.empty()) TryLaneGroup(group, plans);
}

void SweepRun::AddAlone(LaneGroup group, const TrainingPlan& plan) {
  const std::size_t trial = group.stages.front().trial;
  group.folder = kept_.FolderOf(trial);
  const std::string options = SpecToJson(WithAbsolutePaths(plan_.trials[trial].spec));
  if (const auto checkpoint = FindCheckpoint(trial)) {
    try {
      return Queued(group, plan, options, checkpoint);
    } catch (const Error& error) {
      BeginAgain(trial, error.what());
    }
  }
  Queued(std::move(group), plan, options, nullptr);
}

// What is wrong with one lane, such as a damaged checkpoint, is no matter of the others.
void SweepRun::TryLaneGroup(const LaneGroup& group, std::span<const TrainingPlan> plans) {
  try {
    AddLaneGroup(group, plans);
  } catch (const Error& error) {
    const Tuner::Stage first = group.stages.front();
    if (group.stages.size() > 1) {
      for (std::size_t i = 0; i < plans.size(); ++i) {
        TryLaneGroup({.stages = {group.stages[i]}, .folder = {}, .kind = group.kind},
                     plans.subspan(i, 1));
      }
    } else if (kept_.Find(first.trial)) {
      BeginAgain(first.trial, error.what());
      TryLaneGroup(group, plans);
    } else {
      Fail(first, error.what());
    }
  }
}

void SweepRun::AddLaneGroup(LaneGroup group, std::span<const TrainingPlan> plans) {
  TrainingPlan fused = FuseLanes(plans, *InputOf(group.stages.front().trial).input);
  std::vector<std::size_t> trials;
  std::vector<KeptLane> kept;
  std::vector<OptimizerOptions> optimizers;
  for (const LanePlan& lane : fused.lanes) {
    const std::size_t trial = group.stages[trials.size()].trial;
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
  group.folder = kept_.NewLaneGroup();
  Queued(std::move(group), std::move(fused), KeptTrials::LaneGroupText(trials), std::move(resume));
}

void SweepRun::Queued(LaneGroup group, TrainingPlan plan, std::string options,
                      std::shared_ptr<const Checkpoint> resume) {
  RefuseLink(group.folder);
  const SweepInput& read = InputOf(group.stages.front().trial);
  const double from = resume ? static_cast<double>(TrainedRows(*resume, group.folder)) /
                                   static_cast<double>(read.input->training.train_rows)
                             : 0;
  const JobId job = queue_->Add({.plan = std::move(plan),
                                 .input = read.input,
                                 .sharing = {.workers = Sharing::kExclusive},
                                 .keep = KeepOptions{.folder = group.folder,
                                                     .options = std::move(options),
                                                     .every = folder_.checkpoint_every,
                                                     .best = KeepOptions::SaveBest::kInCheckpoints,
                                                     .data = read.rows},
                                 .resume = resume});
  for (const Tuner::Stage stage : group.stages) {
    std::erase_if(results_[stage.trial].curve, [&](const TrialPoint& point) {
      return resume ? point.epoch > from + 1e-9 : true;
    });
  }
  open_[job] = std::move(group);
}

// The newest one that can be read; null: the trial begins.
std::shared_ptr<const Checkpoint> SweepRun::FindCheckpoint(std::size_t trial) {
  if (results_[trial].state == TrialState::kWaiting) return nullptr;
  return kept_.Read(trial);
}

}  // namespace hogbatch
