// The trials of a sweep, and which of them could train as lanes of one network.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/option_values.h"
#include "training/spec.h"
#include "training/sweep/sweep_spec.h"

namespace hogbatch {

struct Trial {
  OptionTexts values;  // of the options that vary
  TrainingSpec spec;
  std::size_t fold = 0;  // which rows validate; trials with equal ones share their rows
};

// All of them, the same for equal specs; the folds of a trial follow each other. UserError for
// values that no training can have, which names the trial, and for more than kMostTrials.
std::vector<Trial> MakeTrials(const SweepSpec& spec);

// "--lr 0.1 --momentum 0.9"; empty if nothing varies.
std::string TrialText(const Trial& trial);

// Trials of equal shape, data, optimiser, batch size, activation, loss and length are in one group,
// by their places. They may differ in what a lane has for itself: learning rate, momentum, weight
// decay, seed, initial weights and when it stops.
std::vector<std::vector<std::size_t>> GroupTrials(std::span<const Trial> trials);

}  // namespace hogbatch
