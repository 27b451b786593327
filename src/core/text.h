// Numbers as text, and text as numbers.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hogbatch {

// Reads the whole of `text`; false when any of it is left over.
template <typename T>
bool ReadAll(std::string_view text, T& value) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

// The whole of `text` as a number. Throws UserError that begins with `what` ("--lr").
double ParseReal(std::string_view what, std::string_view text);
std::int64_t ParseInteger(std::string_view what, std::string_view text);
// "90", "90s", "5m", "2h", "1.5h" in seconds.
double ParseDuration(std::string_view what, std::string_view text);

// "500000", "500K", "1.5G"; units are powers of 1024.
std::int64_t ParseBytes(std::string_view what, std::string_view text);

std::string ShortCount(double count);     // 950, 12.3k, 4.56M
std::string ShortTime(double seconds);    // 0.8s, 12s, 3m05s, 2h10m
std::string Grouped(std::int64_t count);  // 1,234,567
// "1 row", "1,234 rows".
std::string Plural(std::int64_t count, std::string_view one, std::string_view many);
// `text` in lines of at most `width` characters, broken at spaces.
std::string Wrap(std::string_view text, std::size_t width);
std::string Join(const std::vector<std::int64_t>& numbers);  // "512,512"
std::vector<std::string> SplitList(std::string_view text);   // "a, b": "a" and "b"; "": none
std::vector<std::string> SplitLines(std::string_view text);  // the lines; "": none
// A field of a CSV line: in quotation marks if it has commas, quotation marks or line ends.
std::string CsvText(std::string_view text);
// A word as one types it in a shell: in quotation marks if it needs them.
std::string ShellText(std::string_view word);

}  // namespace hogbatch
