#include "datasets/readers/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>

#include "core/guard/printable.h"

namespace hogbatch {

std::optional<double> FiniteNumber(std::string_view token) {
  double value = 0;
  const char* end = token.data() + token.size();
  if (ParseNumber(token.data(), end, value) != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

bool LooksNumeric(std::string_view token) {
  double value = 0;
  const char* end = token.data() + token.size();
  return !token.empty() && ParseNumber(token.data(), end, value) == end;
}

std::string DescribeBadNumber(std::string_view token) {
  if (token.empty()) return "a number is missing here; fill it in (0 if the value is unknown)";
  double value = 0;
  const char* end = token.data() + token.size();
  if (ParseNumber(token.data(), end, value) != end) {
    return fmt::format("{} is not a number; correct or remove it", Quote(token));
  }
  const bool digits =
      std::any_of(token.begin(), token.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  if (digits) return fmt::format("{} is too large for a 32-bit float; scale it", Quote(token));
  return fmt::format("{} is not a finite number; fill it in or remove the row", Quote(token));
}

std::string Quote(std::string_view token) {
  constexpr std::size_t kLongest = 40;
  const std::string_view shown = FirstCharacters(token, kLongest);
  return fmt::format("'{}{}'", Printable(shown), shown.size() < token.size() ? "..." : "");
}

std::string CanonicalName(double value) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (value == std::trunc(value) && std::abs(value) <= kExact) {
    return fmt::format("{}", static_cast<std::int64_t>(value));
  }
  return fmt::format("{}", value);
}

}  // namespace hogbatch
