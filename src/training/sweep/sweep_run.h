// Trains the trials of a sweep as jobs of one queue, and keeps the best model.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "training/queue/queue.h"
#include "training/sweep/blocks.h"
#include "training/sweep/kept_trials.h"
#include "training/sweep/sweep_devices.h"
#include "training/sweep/sweep_models.h"
#include "training/sweep/sweep_observer.h"
#include "training/sweep/sweep_plan.h"
#include "training/sweep/trial_result.h"
#include "training/sweep/tuner.h"

namespace hogbatch {

// What a sweep that was stopped has done.
struct EarlierSweep {
  std::vector<TrialResult> results = {};  // empty: nothing
  BestModel best = {};
};

class SweepRun final : private QueueObserver {
 public:
  // The observer outlives it.
  SweepRun(SweepPlan plan, SweepFolder folder, EarlierSweep earlier, SweepObserver& observer);

  // Returns when all trials have ended, or soon after `stop_requested` returned true.
  void Run(const StopRequested& stop_requested);

  const SweepPlan& plan() const { return plan_; }
  std::span<const TrialResult> results() const { return results_; }
  // The metric that is reported beside the loss: "accuracy", say.
  const std::string& metric() const { return metric_; }
  // The model that is saved; of folds its loss is the mean of its setting.
  const BestModel& best() const { return models_.best(); }
  // A model could not be saved, as the observer was told. Its trial can go on when the sweep does.
  bool lacks_model() const {
    return models_.has_failed() || (!stops_ && tuner_.done() && !complete());
  }
  // How trials are fused, in words.
  std::string BlocksText() const { return devices_.Text(); }
  // Every trial has trained as far as it should, and its model is saved.
  bool complete() const;
  // Files and folders that nothing needs once the present results are on disk: until then a sweep
  // that is killed goes on from them.
  std::vector<std::string> TakeUnneeded();
  // See Queue.
  bool has_hanging_worker() const { return queue_ && queue_->has_hanging_worker(); }

 private:
  // Trials that train together, or one alone.
  struct Block {
    std::vector<Tuner::Stage> stages;
    std::string folder;
    std::size_t kind = 0;  // of devices
  };
  // How a stage has ended.
  struct StageEnd {
    const std::optional<SavedModel>& model;
    LaneResult run;
    double seconds = 0;
    std::int64_t examples = 0;
    std::int64_t updates = 0;

    // The best one of validation; none: it diverged, or there is none.
    std::optional<double> loss() const;
    bool has_model() const { return model && loss() && updates > 0; }
  };

  void RestoreTuner();
  std::optional<std::size_t> FreestKind() const;
  std::size_t OpenOn(std::size_t kind) const;
  void AddStages();
  bool TrainsAlone(std::size_t trial) const;
  void Add(const std::vector<Tuner::Stage>& stages, std::size_t kind);
  std::string PlaceOf(std::size_t trial);
  void BeginAgain(std::size_t trial, std::string_view why);
  void AddAlone(Block block, const TrainingPlan& plan);
  void TryBlock(const Block& block, std::span<const TrainingPlan> plans);
  void AddBlock(Block block, std::span<const TrainingPlan> plans);
  void Queued(Block block, TrainingPlan plan, std::string options,
              std::shared_ptr<const Checkpoint> resume);
  std::shared_ptr<const Checkpoint> FindCheckpoint(std::size_t trial);
  void Fail(Tuner::Stage stage, std::string_view why);
  std::vector<StageEnd> EndsOf(const Block& block, const TrainedModel& trained);
  // The end with the lowest loss; none: there is no model.
  static std::optional<std::size_t> BestOf(std::span<const StageEnd> ends);
  void End(Tuner::Stage stage, const StageEnd& end, bool is_saved);
  void AddIfMissing(std::size_t trial, const Evaluation& evaluation);
  // If `trial` was the last of its setting.
  void SaveSetting(std::size_t trial);
  const SweepInput& InputOf(std::size_t trial) const;
  bool has_folds() const { return plan_.inputs.size() > 1; }

  // QueueObserver
  void OnPreparation(std::string_view worker, double seconds) override;
  void OnJobBegan(JobId job) override;
  void OnProgress(JobId job, const Progress& progress) override;
  void OnJobWarning(JobId job, std::string_view sentence) override;
  void OnJobEnded(JobId job, const TrainedModel& trained, const JobTimes& times) override;
  void OnWorkerFailed(std::string_view worker, std::string_view what) override;
  void OnPoll() override;

  SweepPlan plan_;
  SweepFolder folder_;
  SweepObserver& observer_;
  std::vector<MetricScale> scales_;  // by Trial::fold
  std::string metric_;
  std::vector<TrialResult> results_;
  Tuner tuner_;
  std::vector<std::string> unneeded_;
  KeptTrials kept_;
  SweepDevices devices_;
  BlockMaker waiting_;
  std::map<JobId, Block> open_;
  SweepModels models_;
  bool stops_ = false;
  std::unique_ptr<Queue> queue_;
};

}  // namespace hogbatch
