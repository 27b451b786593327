// The rows of a sweep: the same for all trials, or for all trials of a fold.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "training/input.h"
#include "training/sweep/trials.h"

namespace hogbatch {

struct SweepInput {
  std::shared_ptr<const TrainingInput> input;
  std::string rows;  // its Fingerprint
};

// By Trial::fold. Each fold is read by itself, so that columns, categories and scaling are learnt
// from the rows that it trains on. UserError if all of them together do not fit into memory.
std::vector<SweepInput> ReadInputs(std::span<const Trial> trials, TrainingObserver& observer);

}  // namespace hogbatch
