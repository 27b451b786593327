#include "cli/options/dotted_keys.h"

#include <algorithm>
#include <string>

namespace hogbatch {
namespace {

// The place after the string whose first quotation mark is at `begin`.
std::size_t EndOfString(std::string_view toml, std::size_t begin) {
  constexpr std::size_t kMostAtEnd = 5;  // two that belong to the string, and the three that end it
  const char mark = toml[begin];
  const bool is_long = toml.substr(begin, 3) == std::string(3, mark);
  for (std::size_t i = begin + (is_long ? 3 : 1); i < toml.size(); ++i) {
    if (toml[i] == '\\' && mark == '"') {
      ++i;  // the next character does not end the string
    } else if (toml[i] == '\n' && !is_long) {
      return i;  // an error
    } else if (toml[i] == mark) {
      if (!is_long) return i + 1;
      const std::size_t after = std::min(toml.find_first_not_of(mark, i), toml.size());
      const std::size_t marks = std::min(after - i, kMostAtEnd);
      if (marks >= 3) return i + marks;
      i += marks - 1;
    }
  }
  return toml.size();
}

}  // namespace

std::size_t LineOfLongKey(std::string_view toml, std::size_t most_parts) {
  constexpr std::string_view kNotInKeys = "\n=,[]{}";
  std::size_t dots = 0;
  for (std::size_t i = 0; i < toml.size();) {
    const char c = toml[i];
    if (c == '"' || c == '\'') {
      i = EndOfString(toml, i);
      continue;
    }
    if (c == '#') {
      i = std::min(toml.find('\n', i), toml.size());
      continue;
    }
    if (c == '.' && ++dots >= most_parts) {
      return static_cast<std::size_t>(std::ranges::count(toml.substr(0, i), '\n')) + 1;
    }
    if (kNotInKeys.find(c) != std::string_view::npos) dots = 0;
    ++i;
  }
  return 0;
}

}  // namespace hogbatch
