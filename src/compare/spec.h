// What a user may ask of a comparison.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/options.h"
#include "training/spec.h"

namespace hogbatch::compare {

struct CompareSpec {
  TrainingSpec training;  // the problem, and the optimiser

  std::string against = "all";
  std::int64_t threads = 0;
  std::string devices = kDevicesByDefault;

  std::string budget = "45m";
  std::vector<std::int64_t> batches = {16, 64, 1024, 256};
  std::string lrs = "auto";
  std::string target_loss = "auto";
  std::int64_t seeds = 3;
  std::int64_t repeats = 5;
  std::string max_run = "10m";
  bool throughput = false;
  bool quick = false;

  std::string out;

  void Visit(OptionVisitor& visitor);
};

// Everything as it will be done: nothing left to be chosen.
struct ComparePlan {
  double budget_seconds;
  bool trains;                        // false: only throughput is measured
  std::vector<std::int64_t> batches;  // the most important first
  std::vector<double> lrs;            // rising
  double target_loss;                 // 0: found by tuning
  std::int64_t seeds;
  std::int64_t repeats;
  double max_run_seconds;
  double throughput_seconds;  // of training, in each run
  double shortest_seconds;    // of training, when tuning
  double longest_seconds;
  std::size_t edge_cells;  // at most, that each side tries outside the grid
  std::size_t survivors;   // settings of each side that are tried for longer
};

// UserError for every value that no data and no machine could make right.
ComparePlan PlanOf(const CompareSpec& spec);

// Words of --against as names of baselines; UserError for unknown ones.
std::vector<std::string> WantedBaselines(const std::string& against);

// The folder of the results: --out, or one named after the data.
std::string CompareFolder(const CompareSpec& spec);

}  // namespace hogbatch::compare
