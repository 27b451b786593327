#include "core/option_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/error.h"
#include "core/spelling.h"
#include "core/text.h"

namespace hogbatch {
namespace {

template <typename T>
T CheckRange(std::string_view name, T value, Range range) {
  const auto number = static_cast<double>(value);
  if (!(number >= range.min && number <= range.max)) {
    throw UserError(fmt::format("--{} must be between {:g} and {:g}, not {}", name, range.min,
                                range.max, value));
  }
  return value;
}

}  // namespace

void CheckInRange(std::string_view name, double value, Range range) {
  CheckRange(name, value, range);
}

double CheckedReal(std::string_view name, std::string_view text, Range range) {
  return CheckRange(name, ParseReal(fmt::format("--{}", name), text), range);
}

std::int64_t CheckedInteger(std::string_view name, std::string_view text, Range range) {
  return CheckRange(name, ParseInteger(fmt::format("--{}", name), text), range);
}

std::vector<std::int64_t> CheckedIntegers(std::string_view name, std::string_view text,
                                          Range range) {
  std::vector<std::int64_t> values;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    values.push_back(CheckedInteger(name, rest.substr(0, comma), range));
    if (comma == std::string_view::npos) return values;
    rest.remove_prefix(comma + 1);
  }
}

std::string CheckedWord(std::string_view name, std::string_view text, const Words& words) {
  const bool known = std::find(words.words.begin(), words.words.end(), text) != words.words.end();
  // What else is accepted ("FILE") is judged by who uses it.
  if (known || (!words.also.empty() && !text.empty())) return std::string(text);
  throw UserError(fmt::format("--{} takes {}, not '{}'{}", name, fmt::join(words.words, ", "), text,
                              DidYouMean(text, words.words)));
}

}  // namespace hogbatch
