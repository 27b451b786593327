#include "datasets/readers/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>

namespace hogbatch {
namespace {

// Whether `second` is legal after `first` in UTF-8. Others would encode a character in more bytes
// than it needs, or one that does not exist.
bool MayFollow(unsigned char first, unsigned char second) {
  const unsigned char least = first == 0xe0 ? 0xa0 : (first == 0xf0 ? 0x90 : 0x80);
  const unsigned char most = first == 0xed ? 0x9f : (first == 0xf4 ? 0x8f : 0xbf);
  return second >= least && second <= most;
}

// Bytes of the UTF-8 character at the front; 0 when there is none that can be printed.
std::size_t CharacterSize(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return first >= ' ' && first != 0x7f ? 1 : 0;
  const std::size_t size = first >= 0xf0 ? 4 : (first >= 0xe0 ? 3 : 2);
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
  if (!MayFollow(first, static_cast<unsigned char>(text[1]))) return 0;
  const std::string_view rest = text.substr(2, size - 2);
  const bool whole = std::all_of(rest.begin(), rest.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
  });
  return whole ? size : 0;
}

}  // namespace

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

std::string Printable(std::string_view text) {
  std::string printable;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = CharacterSize(text.substr(at));
    printable += size == 0 ? "?" : text.substr(at, size);
    at += std::max<std::size_t>(size, 1);
  }
  return printable;
}

std::string Quote(std::string_view token) {
  constexpr std::size_t kLongest = 40;
  std::size_t end = std::min(kLongest, token.size());
  while (end < token.size() && (static_cast<unsigned char>(token[end]) & 0xc0) == 0x80) ++end;
  return fmt::format("'{}{}'", Printable(token.substr(0, end)), end < token.size() ? "..." : "");
}

std::string CanonicalName(double value) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (value == std::trunc(value) && std::abs(value) <= kExact) {
    return fmt::format("{}", static_cast<std::int64_t>(value));
  }
  return fmt::format("{}", value);
}

}  // namespace hogbatch
