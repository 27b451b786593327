// The smallest useful batch of a GPU: the one at which it still reaches the wanted share of its
// best rate. A few updates are timed before training, and the result is kept for the next training.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "training/calibration/calibration_cache.h"

namespace hogbatch {

// Seconds per update of `rows` rows; infinite: timing is over.
using SecondsPerUpdate = std::function<double(std::int64_t rows)>;

// Rates at 4, 8, 16, … rows up to `limit`, until they no longer grow or an update would take too
// long. Each is the better of two measurements.
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
  std::string key;         // in the cache: equal for all that takes the same time
  std::int64_t limit = 0;  // the largest batch size allowed
  double utilization;      // the share of the best rate that the smallest batch must reach
  std::function<SecondsPerUpdate()> make_timer;  // not called if the cache has the rates
};

struct Calibration {
  std::optional<LowerBound> bound;
  bool cached = false;
  std::string failure;  // why there is no bound
};
// A failing device is not an exception; see Calibration::failure.
Calibration Calibrate(const CalibrationTask& task, const CalibrationCache& cache);

// A GPU whose batch sizes were measured.
struct CalibratedGpu {
  std::string name;
  LowerBound bound;
  bool cached = false;
};

}  // namespace hogbatch
