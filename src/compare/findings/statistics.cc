#include "compare/findings/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/words.h"

namespace hogbatch::compare {
namespace {

constexpr std::array<NamedValue<Verdict>, 4> kVerdicts{{
    {"higher", Verdict::kHigher},
    {"lower", Verdict::kLower},
    {"noise", Verdict::kNoise},
    {"unknown", Verdict::kUnknown},
}};

double MedianOf(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  if (values.size() % 2 == 1) return values[middle];
  return (values[middle - 1] + values[middle]) / 2;
}

// A mean with the half of its 95 % interval; 0 for a single value.
struct Interval {
  double mean = 0;
  double half = 0;
};
Interval IntervalOf(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  if (values.size() < 2) return {.mean = mean};
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double error = std::sqrt(squares / (count - 1) / count);
  return {.mean = mean,
          .half = StudentQuantile(static_cast<std::int64_t>(values.size()) - 1) * error};
}

Verdict Judge(const Interval& interval, std::size_t count, double smallest) {
  if (count < 2) return Verdict::kUnknown;
  if (std::abs(interval.mean) < smallest) return Verdict::kNoise;
  if (interval.mean - interval.half > 0) return Verdict::kHigher;
  if (interval.mean + interval.half < 0) return Verdict::kLower;
  return Verdict::kNoise;
}

}  // namespace

std::string_view Name(Verdict verdict) { return NameOf(verdict, kVerdicts); }

std::optional<Spread> SpreadOf(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  const auto [min, max] = std::ranges::minmax(values);
  return Spread{.median = MedianOf({values.begin(), values.end()}),
                .min = min,
                .max = max,
                .count = static_cast<std::int64_t>(values.size())};
}

double StudentQuantile(std::int64_t degrees) {
  constexpr std::array kQuantiles = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365,
                                     2.306,  2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
                                     2.131,  2.120, 2.110, 2.101, 2.093, 2.086};
  if (degrees < 1) return kQuantiles.front();
  if (degrees <= static_cast<std::int64_t>(kQuantiles.size())) {
    return kQuantiles[degrees - 1];
  }
  // The first term of the expansion around the normal distribution; right to 0.003 from here on.
  constexpr double kNormal = 1.960;
  return kNormal + (kNormal * kNormal * kNormal + kNormal) / (4 * static_cast<double>(degrees));
}

std::optional<Ratio> RatioOf(std::span<const Pair> pairs) {
  std::vector<double> logs;
  for (const Pair& pair : pairs) {
    if (pair.value > 0 && pair.reference > 0) logs.push_back(std::log(pair.value / pair.reference));
  }
  if (logs.empty()) return std::nullopt;
  const Interval interval = IntervalOf(logs);
  return Ratio{.mean = std::exp(interval.mean),
               .low = std::exp(interval.mean - interval.half),
               .high = std::exp(interval.mean + interval.half),
               .repeats = static_cast<std::int64_t>(logs.size()),
               .verdict = Judge(interval, logs.size(), std::log1p(kSmallestDifference))};
}

std::optional<Difference> DifferenceOf(std::span<const Pair> pairs) {
  if (pairs.empty()) return std::nullopt;
  std::vector<double> differences;
  for (const Pair& pair : pairs) differences.push_back(pair.value - pair.reference);
  const Interval interval = IntervalOf(differences);
  return Difference{.mean = interval.mean,
                    .low = interval.mean - interval.half,
                    .high = interval.mean + interval.half,
                    .verdict = Judge(interval, differences.size(), 0)};
}

}  // namespace hogbatch::compare
