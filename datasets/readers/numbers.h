// Numbers in text, read with fast_float, and messages for text that is not a number.
#pragma once

#include <fast_float/fast_float.h>

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace hogbatch {

inline bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
inline bool IsDigit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// Thrown by a reader of part of a text. The caller, which knows the file, turns it into a UserError
// with file:line:column.
struct ParseFailure {
  const char* where;
  std::string what;
  bool is_open = false;  // the part ends within a record: with more text it may be right
};

inline constexpr const char* kZeroByte =
    "a zero byte, which is no text; remove it: tr -d '\\000' < FILE > NEW";

// Reads a number at the front of [begin, end) and returns where it ends, or null when there is
// none. A leading + is legal. The value may be infinite or NaN: the caller must check.
template <typename T>
const char* ParseNumber(const char* begin, const char* end, T& value) {
  if (begin != end && *begin == '+') {
    ++begin;
    if (begin != end && *begin == '-') return nullptr;
  }
  const fast_float::from_chars_result result = fast_float::from_chars(begin, end, value);
  // Some versions report what is too large or too small, and still set infinity or zero.
  if (result.ec != std::errc() && result.ec != std::errc::result_out_of_range) return nullptr;
  return result.ptr;
}

// The finite number that is all of `token`, if it is one.
std::optional<double> FiniteNumber(std::string_view token);
bool LooksNumeric(std::string_view token);  // also NaN, infinity and what is too large

// Why `token` is not a number to train on: "'abc' is not a number; …".
std::string DescribeBadNumber(std::string_view token);

// A piece of the user's text, safe and short enough to print.
std::string Quote(std::string_view token);

// A number as labels are named: 1.0 and +1 are "1".
std::string CanonicalName(double value);

}  // namespace hogbatch
