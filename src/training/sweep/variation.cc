#include "training/sweep/variation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/option_checks.h"
#include "core/option_values.h"
#include "core/text.h"

namespace hogbatch {
namespace {

std::string_view Trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

double Bound(std::string_view name, std::string_view text, NumberKind kind, Range range) {
  if (kind == NumberKind::kReal) return CheckedReal(name, text, range);
  return static_cast<double>(CheckedInteger(name, text, range));
}

double DrawNumber(const Distribution& from, Random& random) {
  if (from.scale == SamplingScale::kLogarithmic) {
    const double exponent =
        std::log(from.low) + random.Uniform() * (std::log(from.high) - std::log(from.low));
    return std::exp(exponent);
  }
  // Both bounds of whole numbers are as likely as the others.
  const double width = from.high - from.low + (from.kind == NumberKind::kInteger ? 1 : 0);
  const double number = from.low + random.Uniform() * width;
  return from.kind == NumberKind::kInteger ? std::floor(number) : number;
}

}  // namespace

std::vector<std::string> SplitValues(std::string_view name, std::string_view text) {
  std::vector<std::string> values;
  for (std::string_view rest = text;;) {
    const std::size_t bar = rest.find('|');
    const std::string value(Trimmed(rest.substr(0, bar)));
    if (value.empty()) {
      throw UserError(fmt::format(
          "--{} '{}': a value is missing; write a value before and after each |", name, text));
    }
    if (std::ranges::find(values, value) != values.end()) {
      throw UserError(
          fmt::format("--{} '{}': {} is there twice; leave out one of them", name, text, value));
    }
    values.push_back(value);
    if (bar == std::string_view::npos) return values;
    rest.remove_prefix(bar + 1);
  }
}

std::optional<Distribution> ParseDistribution(std::string_view name, std::string_view text,
                                              NumberKind kind, Range range) {
  const bool is_log = text.starts_with("log:");
  if (!is_log && !text.starts_with("lin:")) return std::nullopt;
  const std::string_view bounds = text.substr(4);
  const std::size_t colon = bounds.find(':');
  if (colon == std::string_view::npos) {
    throw UserError(fmt::format("--{} {}: a distribution has two bounds: {}LOW:HIGH", name, text,
                                text.substr(0, 4)));
  }
  const Distribution distribution{
      .scale = is_log ? SamplingScale::kLogarithmic : SamplingScale::kLinear,
      .kind = kind,
      .low = Bound(name, bounds.substr(0, colon), kind, range),
      .high = Bound(name, bounds.substr(colon + 1), kind, range)};
  if (distribution.low >= distribution.high) {
    throw UserError(
        fmt::format("--{} {}: the first bound must be below the second one", name, text));
  }
  if (is_log && distribution.low <= 0) {
    throw UserError(fmt::format(
        "--{} {}: log needs bounds above 0; give a small number, or lin:LOW:HIGH", name, text));
  }
  return distribution;
}

std::string Draw(const Variation& variation, Random& random) {
  if (!variation.distribution) {
    return variation.values[random.Below(std::ssize(variation.values))];
  }
  const Distribution& from = *variation.distribution;
  const double drawn = std::clamp(DrawNumber(from, random), from.low, from.high);
  if (from.kind == NumberKind::kInteger) return OptionText(std::int64_t{std::llround(drawn)});
  double rounded = drawn;
  Check(ReadAll(fmt::format("{:.4g}", drawn), rounded), "a number reads as a number");
  return OptionText(std::clamp(rounded, from.low, from.high));
}

}  // namespace hogbatch
