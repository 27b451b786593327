// What a comparison found, as values that the page, the JSON file and the terminal show.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compare/findings/statistics.h"
#include "compare/phases/schedule.h"
#include "compare/phases/tuning.h"
#include "compare/runs/contestants.h"
#include "compare/runs/run_log.h"
#include "compare/runs/side.h"

namespace hogbatch::compare {

// A ratio is an advantage of hogbatch: above 1 it is faster, or needs less. It pairs runs of one
// repeat.

// Rows per second of one variant beside hogbatch's at `batch` rows per update.
struct SpeedFinding {
  Fairness fairness = Fairness::kRowsPerUpdate;
  std::int64_t batch = 0;  // of hogbatch
  std::string side;
  std::string variant;
  std::int64_t side_batch = 0;
  Spread rate;
  std::optional<Ratio> advantage;  // none for hogbatch itself
  bool fastest_variant = false;
};

// A figure of the race to the target.
struct CostFinding {
  Spread spread;
  std::optional<Ratio> advantage;
};

struct RaceFinding {
  std::string side;
  BestSetting setting;
  std::int64_t runs = 0;
  std::int64_t reached = 0;            // the target
  std::optional<CostFinding> seconds;  // of training to the target; over the runs that reached it
  double tried_seconds = 0;            // the shortest training of a run that did not reach it
  std::optional<CostFinding> memory;   // bytes
  std::optional<CostFinding> cpu;      // seconds of the whole command
  std::optional<CostFinding> start;    // seconds from the command to the end of the first epoch
  std::optional<CostFinding> wall;     // seconds of the whole command
};

// A line of the picture at one time.
struct CurveSample {
  double seconds = 0;
  double median = 0;
  double low = 0;
  double high = 0;
};

struct CurveFinding {
  std::string side;
  double trained_seconds = 0;
  std::vector<CurveSample> samples;
  std::optional<Spread> loss;                        // the lowest
  std::optional<Spread> metric;                      // of the model with the lowest loss
  std::optional<Difference> metric_difference;       // from hogbatch
  std::vector<std::optional<double>> level_seconds;  // median time to each level; none: not reached
};

// Whether all sides really began alike: the losses of the same initial weights.
struct InitialLossGap {
  double loss = 0;                // of hogbatch, with the first seed
  double largest_difference = 0;  // of any side and seed, as a share of hogbatch's
  std::string side;               // that differs most
};

struct Failure {
  std::string side;
  std::string variant;
  std::string outcome;
  std::string message;
  std::int64_t runs = 0;
};

struct Findings {
  std::optional<Target> target;
  std::optional<InitialLossGap> initial_loss;
  std::vector<SpeedFinding> speeds;
  std::vector<RaceFinding> races;
  std::vector<double> levels;  // losses, falling; the first is the target
  std::vector<CurveFinding> curves;
  std::vector<Failure> failures;
  double others_cpu = 0;  // the median over all runs
  double most_others_cpu = 0;
};

struct FindingFacts {
  std::vector<Side> sides;
  std::vector<std::int64_t> batches;
  std::int64_t threads = 1;
  std::int64_t train_rows = 0;
  double target_loss = 0;  // 0: found by tuning
};

Findings FindingsOf(const RunLog& log, const FindingFacts& facts);

}  // namespace hogbatch::compare
