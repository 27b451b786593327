// Which runs a comparison consists of, as values: nothing here runs, reads or measures time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "compare/runs/run.h"
#include "compare/runs/side.h"

namespace hogbatch::compare {

// Shares of the time for the whole comparison.
struct BudgetShares {
  double throughput = 0.42;
  double tuning = 0.33;
  double race = 0.1;  // the rest is for the curves
};

// One measurement of throughput.
struct SpeedCell {
  std::string side;
  std::string variant;
  std::int64_t batch = 0;

  bool operator==(const SpeedCell&) const = default;
};

// How two sides are made comparable.
enum class Fairness : std::uint8_t {
  kRowsPerUpdate,  // as many rows behind each update
  kRowsInFlight,   // as many rows in work at the same time
};

// The batch size at which `side` compares with hogbatch at `batch` rows per update and worker.
std::int64_t BatchSizeOf(Fairness fairness, const Side& side, std::int64_t batch,
                         std::int64_t threads);

// Every variant of every side at a batch size.
std::vector<SpeedCell> SpeedCells(const std::vector<Side>& sides, std::int64_t batch);

// Those of the cells again with as many rows in flight as hogbatch has, where that differs.
// hogbatch's own methods need no such comparison.
std::vector<SpeedCell> InFlight(const std::vector<SpeedCell>& cells, const std::vector<Side>& sides,
                                std::int64_t threads);

// The cells worth repeating after a first measurement of each: variants that are slower than this
// share of the fastest variant of their side at the same batch size are dropped.
inline constexpr double kSlowVariant = 0.8;
struct FirstMeasurement {
  SpeedCell cell;
  double examples_per_second = 0;  // 0: the run failed
};
std::vector<SpeedCell> WorthRepeating(const std::vector<FirstMeasurement>& first);

// Every turn begins one further on, so that no item always follows the same other one, and none
// is always first.
template <typename T>
std::vector<T> Rotated(std::vector<T> items, std::int64_t turn) {
  if (items.empty()) return items;
  const auto by = static_cast<std::ptrdiff_t>(turn % static_cast<std::int64_t>(items.size()));
  std::rotate(items.begin(), items.begin() + by, items.end());
  return items;
}

// As many repeats as asked for, fewer where there is no time. Two are the fewest that have an
// interval.
std::int64_t RepeatsWithin(double budget, double repeat_seconds, std::int64_t wanted);

// A setting to try.
struct GridCell {
  std::int64_t batch = 0;
  double lr = 0;

  bool operator==(const GridCell&) const = default;
};

// All pairs, those of one colour of a chessboard first: the first half alone is a coarser grid.
std::vector<GridCell> Grid(const std::vector<std::int64_t>& batches,
                           const std::vector<double>& lrs);

// Neighbours of `best` beyond the edge of what was tried at its batch size or with its rate.
std::vector<GridCell> CellsBeyondGrid(const GridCell& best, const std::vector<GridCell>& tried);

// What a run takes beside training.
struct SideCost {
  double overhead_seconds = 0;  // to start, read, compile, and end
  double evaluation_seconds = 0;
};

struct RunLength {
  double seconds = 0;  // of training
  std::int64_t evaluations = 1;
};

// The time one run of each side takes when every side trains for `seconds`.
double SecondsOfAllSides(const std::vector<SideCost>& sides, double seconds,
                         std::int64_t evaluations);

// As many evaluations as asked for, fewer where they would take longer than `share` of training;
// at least three.
std::int64_t EvaluationsWithin(const SideCost& cost, double seconds, std::int64_t wanted,
                               double share);

// How long every run of a side may train so that `runs` of them fit into `budget`, within the
// bounds.
double SecondsWithin(double budget, const std::vector<SideCost>& sides, std::int64_t runs,
                     std::int64_t evaluations, double shortest, double longest);

}  // namespace hogbatch::compare
