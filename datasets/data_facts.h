// Statistics of a data set, to show to a user.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "datasets/dataset.h"

namespace hogbatch {

struct LabelFacts {
  std::vector<std::pair<std::string, std::int64_t>> classes;  // and their rows, most frequent first
  double min = 0, mean = 0, max = 0;                          // of labels that are numbers
};
LabelFacts FactsOfLabels(const TrainingData& data);

// The share of its values that are stored, since they are not 0; 1 for a dense set.
double NonzeroShare(const Dataset& data);

}  // namespace hogbatch
