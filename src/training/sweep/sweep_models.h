// The models of a sweep on disk.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "training/checkpoint/checkpoint_options.h"
#include "training/input.h"
#include "training/model/model_file.h"
#include "training/sweep/sweep_observer.h"
#include "training/sweep/trial_result.h"

namespace hogbatch {

struct SweepFolder {
  std::string path;  // of model.safetensors; trials/N/ has the checkpoints of a trial
  double checkpoint_every = CheckpointOptions().every;  // seconds
  bool keeps_members = false;  // members/N.safetensors of every trial that has ended well
  double save_seconds = 10;    // for how long the last save of the best model is tried
};
// The file of a member, from 0.
std::string MemberPath(const std::string& folder, std::size_t trial);

// Of an ensemble that follows a sweep: those of its best trial, for the time that is left;
// infinite: for any time.
SweptOptions EnsembleOptions(const SweepResults& sweep, double seconds_left);
// The members of an ensemble that have ended well, joined and saved as model.safetensors. Throws
// Error if there is none.
SavedModel JoinSavedMembers(const std::string& folder, std::span<const TrialResult> results);

// How good a model is on the validation rows, and on those of --test.
struct EnsembleQuality {
  EvaluationSums valid;
  std::optional<EvaluationSums> test = {};
  MetricScale scale;
};
EnsembleQuality QualityOf(const SavedModel& model, const TrainingInput& input,
                          std::string_view devices);

// Tells the observer what cannot be saved; the sweep goes on.
class SweepModels {
 public:
  // `best`: model.safetensors. `unneeded` gets the files that are no longer needed. What it refers
  // to outlives it.
  SweepModels(const SweepFolder& folder, BestModel best, std::vector<std::string>& unneeded,
              SweepObserver& observer)
      : folder_(folder), best_(best), unneeded_(unneeded), observer_(observer) {}

  const BestModel& best() const { return best_; }

  // False: it should be there, and cannot be written.
  bool SaveIfBest(std::size_t trial, const SavedModel& model, double loss);
  bool SaveMember(std::size_t trial, const SavedModel& model);
  // All folds of a setting, whose trials begin with `first`, have ended. If their mean is the best
  // so far, the best of their models is kept. They are no longer members.
  void SaveIfBestSetting(std::size_t first, const SweepResults& setting);

  // The sweep ends: a best model that could not be written is tried again, also elsewhere.
  void SaveUnsaved();
  // The best model is not in the folder.
  bool lacks_best() const { return unsaved_.has_value(); }
  // Or that of a member is not.
  bool has_failed() const { return unsaved_ || lacks_member_; }

 private:
  struct Unsaved {
    BestModel best;
    SavedModel model;
  };

  const SweepFolder& folder_;
  BestModel best_;
  std::optional<Unsaved> unsaved_;  // better than best_
  bool lacks_member_ = false;
  std::vector<std::string>& unneeded_;
  SweepObserver& observer_;
};

}  // namespace hogbatch
