#include "datasets/readers/written_date.h"

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace hogbatch {
namespace {

// Reads the parts of a date from the front of a text.
class DateText {
 public:
  explicit DateText(std::string_view text) : text_(text) {}

  bool empty() const { return text_.empty(); }
  bool Take(char c) {
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  // A number of `least` to `most` digits.
  std::optional<int> TakeNumber(std::size_t least, std::size_t most) {
    std::size_t digits = 0;
    int number = 0;
    while (digits < text_.size() && digits < most && text_[digits] >= '0' && text_[digits] <= '9') {
      number = 10 * number + (text_[digits++] - '0');
    }
    if (digits < least) return std::nullopt;
    text_.remove_prefix(digits);
    return number;
  }
  void SkipDigits() {
    text_.remove_prefix(std::min(text_.find_first_not_of("0123456789"), text_.size()));
  }

 private:
  std::string_view text_;
};

std::optional<double> Days(int year, int month, int day) {
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return std::nullopt;
  return static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count());
}

// 2024-03-01 and 2024/3/1.
std::optional<double> TakeYearFirst(DateText& text, int year) {
  const bool slash = text.Take('/');
  if (!slash && !text.Take('-')) return std::nullopt;
  const auto month = text.TakeNumber(1, 2);
  if (!month || !text.Take(slash ? '/' : '-')) return std::nullopt;
  const auto day = text.TakeNumber(1, 2);
  if (!day) return std::nullopt;
  return Days(year, *month, *day);
}

// 1.3.2024, and 3/1/2024 or 3-1-2024, in which either may be the day.
std::optional<double> TakeYearLast(DateText& text, int first, DateOrder order) {
  char separator = 0;
  for (const char c : {'.', '/', '-'}) {
    if (separator == 0 && text.Take(c)) separator = c;
  }
  if (separator == 0) return std::nullopt;
  const auto second = text.TakeNumber(1, 2);
  if (!second || !text.Take(separator)) return std::nullopt;
  const auto year = text.TakeNumber(4, 4);
  if (!year) return std::nullopt;
  const bool day_first = separator == '.' || order == DateOrder::kDayFirst;
  return day_first ? Days(*year, *second, first) : Days(*year, first, *second);
}

// "+02:00", "-0500", "Z" or nothing, in days.
std::optional<double> TakeZone(DateText& text) {
  if (text.empty() || text.Take('Z')) return 0;
  const bool east = text.Take('+');
  if (!east && !text.Take('-')) return std::nullopt;
  const auto hours = text.TakeNumber(2, 2);
  text.Take(':');
  const auto minutes = text.empty() ? std::optional(0) : text.TakeNumber(2, 2);
  if (!hours || !minutes || *hours > 14 || *minutes > 59) return std::nullopt;
  return (east ? 1 : -1) * (*hours * 60 + *minutes) / (24 * 60.0);
}

// "12:30", "12:30:15.250Z", in days.
std::optional<double> TakeTime(DateText& text) {
  const auto hour = text.TakeNumber(1, 2);
  if (!hour || !text.Take(':')) return std::nullopt;
  const auto minute = text.TakeNumber(2, 2);
  std::optional<int> second = 0;
  if (text.Take(':')) {
    second = text.TakeNumber(2, 2);
    if (text.Take('.')) text.SkipDigits();
  }
  if (!minute || !second || *hour > 24 || *minute > 59 || *second > 60) return std::nullopt;
  const auto zone = TakeZone(text);
  if (!zone) return std::nullopt;
  return (*hour * 3600 + *minute * 60 + *second) / (24 * 3600.0) - *zone;
}

}  // namespace

std::optional<WrittenDate> ParseWrittenDate(std::string_view word, DateOrder order) {
  DateText text(word);
  const auto first = text.TakeNumber(1, 4);
  if (!first) return std::nullopt;
  const auto days = *first > 99 ? TakeYearFirst(text, *first) : TakeYearLast(text, *first, order);
  if (!days) return std::nullopt;
  if (text.empty()) return WrittenDate{.days = *days};
  if (!text.Take('T') && !text.Take(' ')) return std::nullopt;
  const auto time = TakeTime(text);
  if (!time || !text.empty()) return std::nullopt;
  return WrittenDate{.days = *days + *time, .has_time_of_day = true};
}

}  // namespace hogbatch
