// The smallest batch worth giving to a GPU: one at which it still reaches a good part of its best
// rate. Found by timing a few updates before training, and kept for the next training.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "training/calibration/calibration_cache.h"

namespace hogbatch {

// Seconds that an update of so many rows takes; infinite: nothing more is to be timed.
using SecondsPerUpdate = std::function<double(std::int64_t rows)>;

// Rates at 4, 8, 16, … rows up to `limit`, until they no longer grow or an update takes too long
// to be tried; the better of two measurements of each.
Rates MeasureRates(std::int64_t limit, const SecondsPerUpdate& seconds);

struct LowerBound {
  std::int64_t rows = 0;  // the fewest that reach `utilization` of the best rate
  RateAt best;
};
// None where nothing was measured up to `limit` rows.
std::optional<LowerBound> FindLowerBound(const Rates& rates, std::int64_t limit,
                                         double utilization);

// A GPU to calibrate.
struct CalibrationTask {
  std::string key;         // in the cache: the same for whatever takes the same time
  std::int64_t limit = 0;  // rows that an update may have
  double utilization = 0.5;
  std::function<SecondsPerUpdate()> make_timer;  // not called if the cache has the rates
};

struct Calibration {
  std::optional<LowerBound> bound;
  bool cached = false;
  std::string failure;  // why there is no bound
};
// No failure of a device is an exception here.
Calibration Calibrate(const CalibrationTask& task, const CalibrationCache& cache);

}  // namespace hogbatch
