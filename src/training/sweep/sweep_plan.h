// What a sweep trains: trials, the rows that they train on, and the devices.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "training/devices/devices.h"
#include "training/input.h"
#include "training/sweep/sweep_spec.h"
#include "training/sweep/trials.h"

namespace hogbatch {

// The rows of all trials, or of all trials of a fold.
struct SweepInput {
  std::shared_ptr<const TrainingInput> input;
  std::string rows;  // its Fingerprint
};

// What it refers to outlives the run.
struct SweepPlan {
  std::vector<Trial> trials;
  std::vector<double> rungs;  // SweepSpec::Rungs
  double eta = 3;
  std::vector<SweepInput> inputs;  // by Trial::fold
  Devices devices;
  std::int64_t core_cache_bytes = std::int64_t{1} << 20;  // L2 of a core
};

// Reads the data. Each fold is read by itself, so that columns, categories and scaling are learnt
// from the rows that it trains on. `trials`: MakeTrials of the spec. UserError if all folds
// together do not fit into memory, and for what is wrong with every trial.
SweepPlan PlanSweep(const SweepSpec& spec, std::vector<Trial> trials, TrainingObserver& observer);

}  // namespace hogbatch
