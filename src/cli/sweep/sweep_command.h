// A sweep while it runs: shows it, and keeps its files.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/console.h"
#include "cli/files.h"
#include "cli/options/options.h"
#include "cli/sweep/sweep_files.h"
#include "cli/sweep/sweep_recorder.h"
#include "training/model/ensemble.h"
#include "training/sweep/sweep_run.h"

namespace hogbatch {

class SweepCommand final : public SweepObserver {
 public:
  // The console outlives it. `resumed`: the sweep to go on with, whose folder the caller has
  // locked; none: a new one.
  SweepCommand(const SweepCommandOptions& options, const std::optional<SweepRecord>& resumed,
               Console& console);

  // Returns the exit code.
  int Run();
  // An ensemble that was trained; none: there was none to train, or it is not complete.
  const std::optional<SavedModel>& ensemble() const { return ensemble_; }

  void OnPreparation(std::string_view worker, double seconds) override;
  void OnTrial(std::size_t trial) override;
  void OnBest(std::size_t trial) override;
  void OnWarning(std::string_view sentence) override { console_.Warn(sentence); }
  void OnPoll() override;

 private:
  // Returns the exit code.
  int RunTrials();
  void Introduce() const;
  void SayTrials(const SweepPlan& plan) const;
  void Conclude();
  // The search is over, and an ensemble is to be trained.
  bool EnsembleFollows() const;
  void ShowBest(const SweepResults& results);
  void ShowBestSetting(const SweepResults& results);
  // Of the best trials, or of the best settings.
  std::vector<std::string> Table(std::size_t most) const;
  bool has_folds() const { return spec_.search.folds > 0; }
  bool ShowsSettings() const { return has_folds() && !spec_.varied.empty(); }
  // Joins the members of an ensemble.
  void Join();
  // Trains an ensemble with the options of the best trial, in a folder of its own.
  int TrainEnsemble();
  SweepRecord RecordNow() const;
  // While trials train, which a full disk does not end: it is reported once.
  void Record();
  SweepResults Results() const;
  double Seconds() const;
  std::optional<double> SecondsLeft() const;
  bool TimeIsUp() const;
  int ExitCode() const;

  SweepCommandOptions options_;
  Console& console_;
  SweepSpec spec_;
  std::vector<Trial> trials_;
  SweepRecord record_;
  bool is_resumed_;
  double max_seconds_;
  std::string folder_;
  std::optional<FolderLock> lock_;
  std::optional<SweepRecorder> recorder_;
  std::unique_ptr<SweepRun> run_;
  std::optional<SavedModel> ensemble_;
  double began_ = 0;  // on the steady clock

  double shown_at_ = 0;
  bool record_failed_ = false;
};

}  // namespace hogbatch
