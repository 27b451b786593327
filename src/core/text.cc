#include "core/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace hogbatch {

double ParseReal(std::string_view what, std::string_view text) {
  double value = 0;
  if (!ReadAll(text, value) || !std::isfinite(value)) {
    throw UserError(fmt::format("{} needs a number, not '{}'", what, text));
  }
  return value;
}

std::int64_t ParseInteger(std::string_view what, std::string_view text) {
  std::int64_t value = 0;
  if (!ReadAll(text, value)) {
    throw UserError(fmt::format("{} needs a whole number, not '{}'", what, text));
  }
  return value;
}

double ParseDuration(std::string_view what, std::string_view text) {
  double unit = 1;
  std::string_view number = text;
  if (!text.empty()) {
    const char last = text.back();
    if (last == 's' || last == 'm' || last == 'h') number.remove_suffix(1);
    if (last == 'm') unit = 60;
    if (last == 'h') unit = 3600;
  }
  double value = 0;
  if (!ReadAll(number, value) || !std::isfinite(value) || value <= 0) {
    throw UserError(fmt::format(
        "{} needs a time above 0 such as 90 (seconds), 90s, 5m or 2h, not '{}'", what, text));
  }
  return value * unit;
}

std::int64_t ParseBytes(std::string_view what, std::string_view text) {
  constexpr std::string_view kUnits = "KMGT";
  const std::size_t unit = text.empty() ? kUnits.npos : kUnits.find(text.back());
  const std::string_view number = text.substr(0, text.size() - (unit == kUnits.npos ? 0 : 1));
  double value = 0;
  const double bytes_each = unit == kUnits.npos ? 1 : std::exp2(10 * (unit + 1));
  // Above 2^60 it would not fit, and no machine has it.
  if (!ReadAll(number, value) || !(value * bytes_each >= 1 && value * bytes_each <= 0x1p60)) {
    throw UserError(fmt::format("{} needs a size such as 500M or 16G, not '{}'", what, text));
  }
  return static_cast<std::int64_t>(value * bytes_each);
}

std::string ShortCount(double count) {
  if (count < 999.5) return fmt::format("{:.0f}", count);
  if (count < 999.5e3) return fmt::format("{:.3g}k", count / 1e3);
  if (count < 999.5e6) return fmt::format("{:.3g}M", count / 1e6);
  return fmt::format("{:.3g}G", count / 1e9);
}

std::string ShortTime(double seconds) {
  // Beyond a century the number says nothing; and it must fit an integer.
  const auto whole = static_cast<std::int64_t>(std::ceil(std::min(seconds, 3e9)));
  if (seconds < 9.95) return fmt::format("{:.1f}s", std::max(seconds, 0.0));
  if (whole < 60) return fmt::format("{}s", whole);
  if (whole < 3600) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  if (whole < 360000) return fmt::format("{}h{:02}m", whole / 3600, whole / 60 % 60);
  return fmt::format("{}h", whole / 3600);
}

std::string Grouped(std::int64_t count) {
  std::string digits = fmt::format("{}", count);
  const std::size_t first = count < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string Plural(std::int64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", Grouped(count), count == 1 ? one : many);
}

std::string Wrap(std::string_view text, std::size_t width) {
  std::string wrapped;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (column > 0 && column + 1 + word.size() > width) {
      wrapped += '\n';
      column = 0;
    } else if (column > 0) {
      wrapped += ' ';
      ++column;
    }
    wrapped += word;
    column += word.size();
  }
  return wrapped;
}

std::vector<std::string> SplitList(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  std::vector<std::string> parts;
  while (!text.empty()) {
    std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    part.remove_prefix(std::min(part.find_first_not_of(kBlanks), part.size()));
    part = part.substr(0, part.find_last_not_of(kBlanks) + 1);
    if (!part.empty()) parts.emplace_back(part);
  }
  return parts;
}

std::vector<std::string> SplitLines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    lines.emplace_back(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(lines.back().size() + 1, text.size()));
  }
  return lines;
}

std::string CsvText(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string ShellText(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:,=+@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == word.npos) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string Join(const std::vector<std::int64_t>& numbers) {
  return fmt::format("{}", fmt::join(numbers, ","));
}

}  // namespace hogbatch
