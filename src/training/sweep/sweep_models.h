// The models of a sweep on disk.
#pragma once

#include <cstddef>
#include <string>

#include "training/checkpoint/checkpoint_options.h"
#include "training/model/model_file.h"
#include "training/sweep/sweep_observer.h"
#include "training/sweep/trial_result.h"

namespace hogbatch {

struct SweepFolder {
  std::string path;  // of model.safetensors; trials/N/ has the checkpoints of a trial
  double checkpoint_every = CheckpointOptions().every;  // seconds
  bool keeps_members = false;  // members/N.safetensors of every trial that has ended well
};
// The file of a member, from 0.
std::string MemberPath(const std::string& folder, std::size_t trial);

// Tells the observer what cannot be saved; the sweep goes on.
class SweepModels {
 public:
  // `best_loss`: of model.safetensors; infinite: there is none. The observer outlives it.
  SweepModels(const std::string& folder, double best_loss, SweepObserver& observer)
      : folder_(folder), best_loss_(best_loss), observer_(observer) {}

  double best_loss() const { return best_loss_; }

  void SaveIfBest(std::size_t trial, const SavedModel& model, double loss);
  void SaveMember(std::size_t trial, const SavedModel& model);
  // All folds of a setting, whose trials begin with `first`, have ended. If their mean is the best
  // so far, the best of their models is kept. They are no longer members.
  void SaveIfBestSetting(std::size_t first, const SweepResults& setting);

 private:
  std::string folder_;
  double best_loss_;
  SweepObserver& observer_;
};

}  // namespace hogbatch
