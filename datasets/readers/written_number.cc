#include "datasets/readers/written_number.h"

#include <string>

#include "datasets/readers/numbers.h"

namespace hogbatch {
namespace {

// Digits in groups of three, "1,234,567", without their separators; empty: they are not.
std::string WithoutSeparators(std::string_view whole, char separator) {
  std::string digits;
  std::size_t group = 0;
  bool first = true;
  for (const char c : whole) {
    if (IsDigit(c)) {
      digits += c;
      ++group;
      continue;
    }
    const bool is_separator = c == separator || c == ' ' || c == '\'';
    const bool group_fits = first ? group >= 1 && group <= 3 : group == 3;
    if (!is_separator || !group_fits) return "";
    first = false;
    group = 0;
  }
  return first || group == 3 ? digits : "";
}

// Removes a currency sign at either end.
void RemoveCurrency(std::string_view& word) {
  for (const std::string_view sign : {"$", "€", "£", "¥"}) {
    if (word.starts_with(sign)) word.remove_prefix(sign.size());
    if (word.ends_with(sign)) word.remove_suffix(sign.size());
  }
}

}  // namespace

std::optional<double> ParseWrittenNumber(std::string_view word, NumberStyle style) {
  const auto trim = [&] {
    while (word.ends_with(' ')) word.remove_suffix(1);
    while (word.starts_with(' ')) word.remove_prefix(1);
  };
  trim();
  double factor = 1;
  if (word.ends_with('%')) {
    factor = 0.01;
    word.remove_suffix(1);
  } else {
    RemoveCurrency(word);
  }
  trim();
  if (style == NumberStyle::kPoint) {
    if (const auto plain = FiniteNumber(word)) return *plain * factor;
  }
  if (word.starts_with('+') || word.starts_with('-')) {
    if (word.front() == '-') factor = -factor;
    word.remove_prefix(1);
    RemoveCurrency(word);  // -$5
  }
  const char decimal = style == NumberStyle::kPoint ? '.' : ',';
  const char separator = style == NumberStyle::kPoint ? ',' : '.';
  const std::size_t point = word.find(decimal);
  std::string plain = WithoutSeparators(word.substr(0, point), separator);
  const bool has_whole = !plain.empty();
  if (!has_whole && point != 0) return std::nullopt;
  if (point != std::string_view::npos) plain.append(".").append(word.substr(point + 1));
  // The number proper has no sign any more, and words such as inf are no digits.
  if (plain.empty() || !(IsDigit(plain.front()) || plain.front() == '.')) return std::nullopt;
  const auto number = FiniteNumber(plain);
  if (!number) return std::nullopt;
  return *number * factor;
}

}  // namespace hogbatch
