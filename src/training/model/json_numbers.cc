#include "training/model/json_numbers.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "core/error.h"

namespace hogbatch {

void Require(bool holds, const std::string& what) {
  if (!holds) throw UserError(what);
}

std::int64_t Integer(const MetadataJson& value, std::int64_t min, std::string_view what) {
  Require(value.is_number_integer(), fmt::format("{} is not a whole number", what));
  // No real file has larger numbers, and sums of smaller ones do not overflow.
  constexpr auto kMax = std::int64_t{1} << 53;
  const auto number = value.get<std::int64_t>();
  Require(number >= min && number <= kMax, fmt::format("{} is {}", what, number));
  return number;
}

double Real(const MetadataJson& value, double largest, std::string_view what) {
  Require(value.is_number(), fmt::format("{} is not a number", what));
  const auto number = value.get<double>();
  Require(std::abs(number) <= largest, fmt::format("{} is {}, beyond {:g}", what, number, largest));
  return number;
}

float Float(const MetadataJson& value, std::string_view what) {
  return static_cast<float>(Real(value, std::numeric_limits<float>::max(), what));
}

}  // namespace hogbatch
