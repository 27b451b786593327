// The columns of a table (CSV) and the features that they become.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hogbatch {

enum class ColumnKind : std::uint8_t {
  kNumber,    // one feature
  kCategory,  // one feature for each category
  kHashed,    // words, spread over 2^hash_bits features
  kDate,      // a time as a number, and where it lies in the year, the week and the day
  kLeftOut,   // no feature
};
ColumnKind ParseColumnKind(std::string_view name);  // UserError for an unknown word
std::string_view Name(ColumnKind kind);

// How a column writes numbers that are more than digits and a point.
enum class NumberStyle : std::uint8_t {
  kPoint,  // 1,234.5 or 12 %
  kComma,  // 1.234,5
};

// Which of the first two numbers of 3/4/2024 is the day.
enum class DateOrder : std::uint8_t { kMonthFirst, kDayFirst };

struct TableColumn {
  std::string name = {};  // empty: the file has no header
  ColumnKind kind = ColumnKind::kNumber;
  std::string reason = {};  // kLeftOut: why, as in "it is the same in all rows"

  std::int64_t feature = 0;    // the first of its features
  bool has_indicator = false;  // its last feature is 1 where the cell is missing

  float fill = 0;  // instead of a missing cell: kNumber, or days since 1970 (kDate)
  std::vector<std::string> missing_words = {};  // kNumber: they stand for a missing cell
  NumberStyle style = NumberStyle::kPoint;

  std::vector<std::string> categories = {};  // each a feature; others have none or share one:
  bool has_other = false;
  std::int64_t fill_category = 0;  // instead of a missing cell

  int hash_bits = 0;

  DateOrder date_order = DateOrder::kMonthFirst;
  bool has_time_of_day = false;

  std::int64_t features() const;
  bool operator==(const TableColumn&) const = default;
};

// What the cells of a column are, over all rows of a file.
struct ColumnFacts {
  std::int64_t numbers = 0;
  std::int64_t words = 0;
  std::int64_t missing = 0;
  double min = 0;  // of the numbers, also of those that are written as words
  double max = 0;
  std::int64_t different_words = 0;
  std::vector<std::pair<std::string, std::int64_t>> frequent = {};  // words and their rows
  std::string earliest = {};                                        // of dates, as written
  std::string latest = {};
};

// Numbers the features in the order of the columns; returns how many there are.
std::int64_t AssignFeatures(std::vector<TableColumn>& columns);

// Features that are 0 or 1, or a sine: they are not scaled.
std::vector<bool> FeaturesWithoutScale(const std::vector<TableColumn>& columns,
                                       std::int64_t features);

}  // namespace hogbatch
