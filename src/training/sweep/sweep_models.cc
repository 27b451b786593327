#include "training/sweep/sweep_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/error.h"
#include "core/guard/folder.h"
#include "training/model/ensemble.h"
#include "training/model/labels.h"
#include "training/model/last_save.h"
#include "training/predict.h"
#include "training/sweep/fold_means.h"

namespace hogbatch {

std::string MemberPath(const std::string& folder, std::size_t trial) {
  return fmt::format("{}/members/{}.safetensors", folder, trial + 1);
}

SavedModel JoinSavedMembers(const std::string& folder, std::span<const TrialResult> results) {
  std::vector<SavedModel> members;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::string path = MemberPath(folder, i);
    const bool is_done = results[i].state == TrialState::kDone;
    if (is_done && std::filesystem::exists(path)) members.push_back(LoadModel(path));
  }
  if (members.empty()) throw Error(fmt::format("{} has no member of the ensemble", folder));
  SavedModel joined = JoinMembers(members);
  SaveModel(ModelPath(folder), joined);
  return joined;
}

SweptOptions EnsembleOptions(const SweepResults& sweep, double seconds_left) {
  SweptOptions options = SweptOptions::Of(sweep.trials[Ranking(sweep.results).front()].spec);
  if (std::isfinite(seconds_left)) {
    options.Set("max-time", fmt::format("{:.3f}s", std::max(0.001, seconds_left)));
  }
  return options;
}

EnsembleQuality QualityOf(const SavedModel& model, const TrainingInput& input,
                          std::string_view devices) {
  const std::vector<DeviceChoice> choices = DevicesToInfer(devices, model.spec);
  const Dataset& rows = input.training.data;
  EnsembleQuality quality{
      .valid = EvaluateRows(choices, model, rows, {input.training.train_rows, rows.rows}),
      .scale = ScaleOf(model.spec, input.training.schema)};
  if (input.test) quality.test = EvaluateRows(choices, model, *input.test, {0, input.test->rows});
  return quality;
}

bool SweepModels::SaveIfBest(std::size_t trial, const SavedModel& model, double loss) {
  if (!(loss < best_.loss)) return true;
  try {
    SaveModel(ModelPath(folder_.path), model);
  } catch (const Error& error) {
    observer_.OnWarning(fmt::format("trial {} is the best so far: {}", trial + 1, error.what()));
    if (!unsaved_ || loss < unsaved_->best.loss) {
      unsaved_ = {.best = {.loss = loss, .trial = trial}, .model = model};
    }
    return false;
  }
  best_ = {.loss = loss, .trial = trial};
  if (unsaved_ && !(unsaved_->best.loss < loss)) unsaved_.reset();
  observer_.OnBest(trial);
  return true;
}

bool SweepModels::SaveMember(std::size_t trial, const SavedModel& model) {
  try {
    const std::string path = MemberPath(folder_.path, trial);
    MakeFolder(std::filesystem::path(path).parent_path());
    SaveModel(path, model);
    return true;
  } catch (const std::exception& error) {
    observer_.OnWarning(fmt::format("member {} cannot be saved: {}", trial + 1, error.what()));
    lacks_member_ = true;
    return false;
  }
}

void SweepModels::SaveIfBestSetting(std::size_t first, const SweepResults& setting) {
  const FoldMeans means = MeansOfFolds(setting).front();
  const std::size_t best = first + Ranking(setting.results).front();
  if (means.is_complete && means.valid_loss.mean < best_.loss) {
    try {
      const SavedModel model = LoadModel(MemberPath(folder_.path, best));
      if (!SaveIfBest(best, model, means.valid_loss.mean)) return;
    } catch (const Error& lost) {
      observer_.OnWarning(fmt::format("the best fold so far has no model: {}", lost.what()));
    }
  }
  for (std::size_t i = 0; i < setting.trials.size(); ++i) {
    unneeded_.push_back(MemberPath(folder_.path, first + i));
  }
}

void SweepModels::SaveUnsaved() {
  if (!unsaved_) return;
  WarningObserver warner([&](std::string_view sentence) { observer_.OnWarning(sentence); });
  try {
    if (SaveLast(unsaved_->model, folder_.path, warner, folder_.save_seconds) != folder_.path) {
      return;
    }
  } catch (const Error& error) {
    return observer_.OnWarning(error.what());
  }
  best_ = unsaved_->best;
  unsaved_.reset();
  observer_.OnBest(*best_.trial);
}

}  // namespace hogbatch
