#include "training/calibration/calibration.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <exception>
#include <iterator>

namespace hogbatch {
namespace {

// The last sizes brought next to nothing over all that is smaller. Several of them: a library that
// changes its way at some size may be slower there and faster beyond.
bool NoLongerGrows(const std::vector<RateAt>& rates) {
  constexpr double kNothing = 1.03;
  constexpr std::ptrdiff_t kSizes = 3;
  if (std::ssize(rates) <= kSizes) return false;
  const auto slower = [](const RateAt& a, const RateAt& b) {
    return a.rows_per_second < b.rows_per_second;
  };
  const auto last = rates.end() - kSizes;
  const double before = std::max_element(rates.begin(), last, slower)->rows_per_second;
  const double after = std::max_element(last, rates.end(), slower)->rows_per_second;
  return after < kNothing * before;
}

// Larger sizes were not left out for want of permission.
bool Suffices(const Rates& rates, std::int64_t limit) {
  return rates.settled || rates.limit >= limit;
}

// 0: nothing more is to be timed.
double RateOf(std::int64_t rows, const SecondsPerUpdate& seconds) {
  constexpr double kShortestUpdate = 1e-9;  // clocks may see nothing pass
  return static_cast<double>(rows) / std::max(seconds(rows), kShortestUpdate);
}

// Larger sizes would tell nothing new, or take too long.
bool IsSettled(const std::vector<RateAt>& rates) {
  constexpr double kLongestUpdate = 0.25;
  if (rates.empty()) return false;
  const RateAt& last = rates.back();
  return NoLongerGrows(rates) ||
         static_cast<double>(2 * last.rows) / last.rows_per_second > kLongestUpdate;
}

// From where it stands on.
void MeasureUpwards(Rates& rates, const SecondsPerUpdate& seconds) {
  constexpr std::int64_t kFirst = 4;
  while (!IsSettled(rates.at)) {
    const std::int64_t rows =
        rates.at.empty() ? std::min(kFirst, rates.limit) : 2 * rates.at.back().rows;
    if (rows <= 0 || rows > rates.limit) return;
    const double rate = RateOf(rows, seconds);
    if (rate == 0) return;
    rates.at.push_back({.rows = rows, .rows_per_second = rate});
  }
  rates.settled = true;
}

}  // namespace

// Whatever else the machine did meanwhile hit a few sizes alone: a second look shows them as they
// are, and may show that larger ones were left out too soon.
Rates MeasureRates(std::int64_t limit, const SecondsPerUpdate& seconds) {
  Rates rates{.limit = limit};
  MeasureUpwards(rates, seconds);
  for (RateAt& rate : rates.at) {
    rate.rows_per_second = std::max(rate.rows_per_second, RateOf(rate.rows, seconds));
  }
  if (rates.settled) {
    rates.settled = false;
    MeasureUpwards(rates, seconds);
  }
  return rates;
}

std::optional<LowerBound> FindLowerBound(const Rates& rates, std::int64_t limit,
                                         double utilization) {
  RateAt best;
  for (const RateAt& rate : rates.at) {
    if (rate.rows <= limit && rate.rows_per_second > best.rows_per_second) best = rate;
  }
  for (const RateAt& rate : rates.at) {
    if (rate.rows > limit) break;
    if (rate.rows_per_second >= utilization * best.rows_per_second) {
      return LowerBound{.rows = rate.rows, .best = best};
    }
  }
  return std::nullopt;
}

Calibration Calibrate(const CalibrationTask& task, const CalibrationCache& cache) {
  Calibration calibration;
  if (const std::optional<Rates> kept = cache.Load(task.key); kept && Suffices(*kept, task.limit)) {
    calibration.bound = FindLowerBound(*kept, task.limit, task.utilization);
    calibration.cached = calibration.bound.has_value();
    if (calibration.cached) return calibration;
  }
  try {
    const Rates rates = MeasureRates(task.limit, task.make_timer());
    calibration.bound = FindLowerBound(rates, task.limit, task.utilization);
    if (!calibration.bound) {
      calibration.failure = "it has no room for a batch to time";
    } else if (rates.settled || 2 * rates.at.back().rows > task.limit) {
      cache.Save(task.key, rates);  // it was not broken off
    }
  } catch (const std::exception& error) {
    calibration.failure = error.what();
  }
  return calibration;
}

}  // namespace hogbatch
