// What repeated measurements say, and what they do not.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace hogbatch::compare {

struct Spread {
  double median = 0;
  double min = 0;
  double max = 0;
  std::int64_t count = 0;
};
std::optional<Spread> SpreadOf(std::span<const double> values);

// Two measurements of one repeat, which ran shortly after each other.
struct Pair {
  double value = 0;
  double reference = 0;
};

enum class Verdict : std::uint8_t {
  kHigher,   // value / reference is above 1
  kLower,    // below 1
  kNoise,    // the interval holds 1, or the difference is below kSmallest
  kUnknown,  // fewer than two repeats: there is no interval
};
std::string_view Name(Verdict verdict);

// Differences below this are called noise however small the interval is: the choice of a batch size
// and a learning rate varies by more from one comparison to the next.
inline constexpr double kSmallestDifference = 0.05;

// value / reference over paired repeats: the geometric mean with its 95 % interval (Student's t on
// the logarithms).
struct Ratio {
  double mean = 1;
  double low = 1;
  double high = 1;
  std::int64_t repeats = 0;
  Verdict verdict = Verdict::kUnknown;
};
std::optional<Ratio> RatioOf(std::span<const Pair> pairs);

// value - reference over paired repeats: the mean with its 95 % interval.
struct Difference {
  double mean = 0;
  double low = 0;
  double high = 0;
  Verdict verdict = Verdict::kUnknown;
};
std::optional<Difference> DifferenceOf(std::span<const Pair> pairs);

// The 97.5 % quantile of Student's distribution.
double StudentQuantile(std::int64_t degrees);

}  // namespace hogbatch::compare
