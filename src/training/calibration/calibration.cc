#include "training/calibration/calibration.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <exception>
#include <iterator>

namespace hogbatch {
namespace {

// Whether the largest sizes are hardly faster than smaller ones. Several sizes are compared,
// because a library that switches to another method may be slower at one size and faster beyond it.
bool NoLongerGrows(const std::vector<RateAt>& rates) {
  constexpr double kSmallGain = 1.03;
  constexpr std::ptrdiff_t kSizes = 3;
  if (std::ssize(rates) <= kSizes) return false;
  const auto slower = [](const RateAt& a, const RateAt& b) {
    return a.rows_per_second < b.rows_per_second;
  };
  const auto last = rates.end() - kSizes;
  const double before = std::max_element(rates.begin(), last, slower)->rows_per_second;
  const double after = std::max_element(last, rates.end(), slower)->rows_per_second;
  return after < kSmallGain * before;
}

// Whether the rates are enough for this limit: larger sizes would show nothing new, or were not
// allowed.
bool Suffices(const Rates& rates, std::int64_t limit) {
  return rates.settled || rates.limit >= limit;
}

// 0: timing is over.
double RateOf(std::int64_t rows, const SecondsPerUpdate& seconds) {
  constexpr double kShortestUpdate = 1e-9;  // clocks may measure 0
  return static_cast<double>(rows) / std::max(seconds(rows), kShortestUpdate);
}

// Larger sizes would show nothing new or take too long.
bool IsSettled(const std::vector<RateAt>& rates) {
  constexpr double kLongestUpdate = 0.25;
  if (rates.empty()) return false;
  const RateAt& last = rates.back();
  return NoLongerGrows(rates) ||
         static_cast<double>(2 * last.rows) / last.rows_per_second > kLongestUpdate;
}

// Continues from the largest size so far.
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

// Other work on the machine may have disturbed some sizes. A second measurement corrects them, and
// may show that larger sizes were left out too early.
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
      calibration.failure = "its memory is too small for a batch to measure";
    } else if (rates.settled || 2 * rates.at.back().rows > task.limit) {
      cache.Save(task.key, rates);  // the measurement is complete
    }
  } catch (const std::exception& error) {
    calibration.failure = error.what();
  }
  return calibration;
}

}  // namespace hogbatch
