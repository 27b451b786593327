#include "training/sweep/sweep_models.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "core/error.h"
#include "training/sweep/fold_means.h"

namespace hogbatch {

std::string MemberPath(const std::string& folder, std::size_t trial) {
  return fmt::format("{}/members/{}.safetensors", folder, trial + 1);
}

void SweepModels::SaveIfBest(std::size_t trial, const SavedModel& model, double loss) {
  if (!(loss < best_loss_)) return;
  try {
    SaveModel(folder_ + "/model.safetensors", model);
    best_loss_ = loss;
    observer_.OnBest(trial);
  } catch (const Error& error) {
    observer_.OnWarning(fmt::format("trial {} is the best so far: {}", trial + 1, error.what()));
  }
}

void SweepModels::SaveMember(std::size_t trial, const SavedModel& model) {
  try {
    const std::string path = MemberPath(folder_, trial);
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    SaveModel(path, model);
  } catch (const std::exception& error) {
    observer_.OnWarning(fmt::format("member {} is lost: {}", trial + 1, error.what()));
  }
}

void SweepModels::SaveIfBestSetting(std::size_t first, const SweepResults& setting) {
  const FoldMeans means = MeansOfFolds(setting).front();
  const std::size_t best = first + Ranking(setting.results).front();
  const std::string path = MemberPath(folder_, best);
  if (means.is_complete && means.valid_loss.mean < best_loss_) {
    try {
      SaveIfBest(best, LoadModel(path), means.valid_loss.mean);
    } catch (const Error& lost) {
      observer_.OnWarning(fmt::format("the best fold so far has no model: {}", lost.what()));
    }
  }
  std::error_code error;
  for (std::size_t i = 0; i < setting.trials.size(); ++i) {
    std::filesystem::remove(MemberPath(folder_, first + i), error);
  }
  // If it is empty.
  std::filesystem::remove(std::filesystem::path(path).parent_path(), error);
}

}  // namespace hogbatch
