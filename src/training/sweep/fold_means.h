// Cross-validation: what the folds of a setting have in common.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "training/sweep/trial_result.h"

namespace hogbatch {

// Of some numbers. NaN: there are none.
struct FoldSpread {
  double mean = 0;
  double deviation = 0;  // of a sample; NaN for a single number
  double lowest = 0;
  double highest = 0;
};
FoldSpread FoldSpreadOf(std::span<const double> values);

// A setting is what a trial would be without folds.
struct FoldMeans {
  std::size_t setting = 0;
  std::size_t folds = 0;     // that have a loss, which they may still lower
  bool is_complete = false;  // all folds have one, and have ended
  FoldSpread valid_loss;     // each fold at its best evaluation, as all others
  FoldSpread valid_metric;
  FoldSpread test_loss;
  FoldSpread test_metric;
};

// Trial::fold is the place of a trial within its setting, and "fold" the last of its values.
std::size_t CountFolds(std::span<const Trial> trials);

// One for each setting: those that are complete first, each by its mean loss.
std::vector<FoldMeans> MeansOfFolds(const SweepResults& sweep);

// The setting alone, without its fold.
Trial SettingOf(const SweepResults& sweep, const FoldMeans& means);

// One line for each of them.
std::string FoldsCsv(const SweepResults& sweep);

}  // namespace hogbatch
