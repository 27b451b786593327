#include "datasets/encoding/learn_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "core/error.h"
#include "core/text.h"
#include "datasets/readers/missing.h"
#include "datasets/readers/numbers.h"
#include "datasets/readers/written_date.h"
#include "datasets/readers/written_number.h"

namespace hogbatch {
namespace {

constexpr std::int64_t kFewestRows = 20;  // fewer may be alike, or differ, by chance
constexpr double kIds = 0.9;              // share of different words among the cells
constexpr double kMistakes = 0.01;        // fewer words among numbers are mistakes
constexpr double kMostlyNumbers = 0.5;    // among them, few other words mean "missing"
constexpr std::size_t kMostMissingWords = 10;
constexpr double kIndicatorShare = 0.01;  // of training rows
constexpr std::int64_t kFewestRowsToIndicate = 5;
constexpr double kLargestExact = 1 << 24;  // of the whole numbers of a float

// Fewer training rows than this are too few to learn a category from.
std::int64_t RareRows(std::int64_t train_rows) {
  return std::clamp<std::int64_t>(train_rows / 1000, 1, 5);
}

bool HelpsToIndicate(std::int64_t missing, std::int64_t train_rows) {
  return missing >= kFewestRowsToIndicate &&
         static_cast<double>(missing) >= kIndicatorShare * static_cast<double>(train_rows) &&
         missing < train_rows;
}

TableColumn LeftOut(std::string reason) {
  return {.kind = ColumnKind::kLeftOut, .reason = std::move(reason)};
}

TableColumn LearnNumbers(const ColumnSurvey& survey, std::int64_t train_rows) {
  TableColumn column{.has_indicator = HelpsToIndicate(survey.train_missing, train_rows)};
  if (survey.train_numbers > 0) {
    column.fill = static_cast<float>(survey.train_sum / static_cast<double>(survey.train_numbers));
  }
  return column;
}

// How the words of a column fall: those that `reads` can read, and the others.
struct Reading {
  std::int64_t read = 0;  // cells
  std::int64_t odd = 0;
  std::vector<std::string> odd_words;

  double odd_share() const {
    return static_cast<double>(odd) / static_cast<double>(std::max<std::int64_t>(read + odd, 1));
  }
};

template <typename Reads>
Reading Try(const ColumnSurvey& survey, const Reads& reads) {
  Reading reading;
  for (const auto& [word, count] : survey.different_words) {
    if (reads(word)) {
      reading.read += count.rows;
    } else {
      reading.odd += count.rows;
      reading.odd_words.push_back(word);
    }
  }
  return reading;
}

// Numbers that are written as words: 1,234.5. None if most are not.
std::optional<TableColumn> LearnWrittenNumbers(const ColumnSurvey& survey, std::int64_t train_rows,
                                               NumberStyle style, Reading& reading) {
  const auto value = [style](const std::string& word) -> std::optional<double> {
    return ParseWrittenNumber(word, style);
  };
  reading = Try(survey, [&](const std::string& word) {
    return IsMissingAmongNumbers(word) || value(word).has_value();
  });
  const bool few_words = reading.odd_share() >= kMistakes && reading.odd_share() < kMostlyNumbers &&
                         reading.odd_words.size() <= kMostMissingWords;
  if (reading.read == 0 || (reading.odd > 0 && !few_words)) return std::nullopt;
  TableColumn column{.missing_words = reading.odd_words, .style = style};
  std::ranges::sort(column.missing_words);
  std::int64_t numbers = 0, missing = survey.train_missing;
  double sum = 0;
  for (const auto& [word, count] : survey.different_words) {
    if (!value(word)) {
      missing += count.train_rows;
      continue;
    }
    numbers += count.train_rows;
    sum += *value(word) * static_cast<double>(count.train_rows);
  }
  if (numbers > 0) column.fill = static_cast<float>(sum / static_cast<double>(numbers));
  column.has_indicator = HelpsToIndicate(missing, train_rows);
  return column;
}

std::optional<TableColumn> LearnDates(const ColumnSurvey& survey, std::int64_t train_rows) {
  for (const DateOrder order : {DateOrder::kMonthFirst, DateOrder::kDayFirst}) {
    const Reading reading =
        Try(survey, [&](const std::string& word) { return ParseWrittenDate(word, order); });
    if (reading.odd > 0) continue;
    TableColumn column{.kind = ColumnKind::kDate,
                       .has_indicator = HelpsToIndicate(survey.train_missing, train_rows),
                       .date_order = order};
    double sum = 0;
    std::int64_t dates = 0;
    for (const auto& [word, count] : survey.different_words) {
      const WrittenDate date = *ParseWrittenDate(word, order);
      sum += date.days * static_cast<double>(count.train_rows);
      dates += count.train_rows;
      if (date.has_time_of_day) column.has_time_of_day = true;
    }
    if (dates > 0) column.fill = static_cast<float>(sum / static_cast<double>(dates));
    return column;
  }
  return std::nullopt;
}

// Numbers by size, then words.
struct CategoryOrder {
  bool operator()(const std::string& a, const std::string& b) const {
    const auto number_a = FiniteNumber(a), number_b = FiniteNumber(b);
    if (number_a && number_b) return *number_a < *number_b;
    if (number_a || number_b) return number_a.has_value();
    return a < b;
  }
};

TableColumn LearnCategories(const ColumnSurvey& survey, std::int64_t train_rows, int hash_bits) {
  TableColumn column{.kind = ColumnKind::kCategory,
                     .has_indicator = HelpsToIndicate(survey.train_missing, train_rows)};
  std::map<std::string, std::int64_t, CategoryOrder> rows;  // of training
  for (const auto& [word, count] : survey.different_words) {
    rows[CategoryName(word)] += count.train_rows;
  }
  std::int64_t most = 0;
  for (const auto& [name, count] : rows) {
    if (count < RareRows(train_rows)) {
      if (count > 0) column.has_other = true;
      continue;
    }
    if (count > most) column.fill_category = std::ssize(column.categories);
    most = std::max(most, count);
    column.categories.push_back(name);
  }
  const bool all_rare = column.categories.empty();
  if (std::ssize(column.categories) <= kMostCategories && !all_rare) return column;
  return {
      .kind = ColumnKind::kHashed, .has_indicator = column.has_indicator, .hash_bits = hash_bits};
}

[[noreturn]] void ThrowMixed(std::int64_t index, const Reading& reading, const std::string& name) {
  throw MixedColumn{
      index, reading.odd_words,
      fmt::format("is not a number, and {} other cells of {} are; correct it, or take the column "
                  "as words with --categorical {}",
                  Grouped(reading.read), name.empty() ? "the column" : "column " + Quote(name),
                  name.empty() ? fmt::format("{}", index + 1) : name)};
}

// Words that are numbers, but none that a network could compute with.
void RefuseTooLarge(std::int64_t index, const ColumnSurvey& survey, NumberStyle style) {
  std::vector<std::string> words;
  for (const auto& [word, count] : survey.different_words) {
    const auto number = ParseWrittenNumber(word, style);
    if (number && !std::isfinite(static_cast<float>(*number))) words.push_back(word);
  }
  if (!words.empty()) {
    throw MixedColumn{index, words, "is too large for a 32-bit float; scale it"};
  }
}

bool IsAllDifferent(const ColumnSurvey& survey) {
  return survey.words >= kFewestRows && static_cast<double>(survey.different_words.size()) >=
                                            kIds * static_cast<double>(survey.words);
}

// "id", "user_id", "userId", but not "paid".
bool IsNameOfId(std::string_view name) {
  if (name == "id" || name == "Id" || name == "ID") return true;
  if (name.size() < 3) return false;
  const std::string_view end = name.substr(name.size() - 2);
  const char before = name[name.size() - 3];
  const bool is_word = before == '_' || before == ' ' || before == '-' || before == '.';
  const bool is_lower = before >= 'a' && before <= 'z';
  return (is_word && (end == "id" || end == "Id" || end == "ID")) ||
         (is_lower && (end == "Id" || end == "ID"));
}

// Whether the numbers of a column reach so far that they may all differ.
bool MayAllDiffer(const ColumnSurvey& survey) {
  return survey.words == 0 && survey.max - survey.min + 1 >= static_cast<double>(survey.numbers);
}

// Why a column says nothing about the label; empty: it may.
std::string WhyUseless(const ColumnSurvey& survey, std::string_view name) {
  if (survey.numbers + survey.words == 0) return "all cells are missing";
  const bool one_number = survey.words == 0 && survey.min == survey.max;
  const bool one_word = survey.numbers == 0 && survey.different_words.size() == 1;
  if (survey.numbers + survey.words < kFewestRows) return "";
  if ((one_number || one_word) && survey.missing == 0) {
    const bool is_rounded = one_number && std::abs(survey.min) >= kLargestExact;
    return is_rounded ? "its first 7 digits are the same in all rows"
                      : "it is the same in all rows";
  }
  if (survey.counts_up) return "it numbers the rows";
  if (IsNameOfId(name) && MayAllDiffer(survey)) return "it is an id by its name";
  return "";
}

TableColumn LearnWords(std::int64_t index, const ColumnSurvey& survey, const TableToLearn& table,
                       const std::string& name, bool is_kept, int hash_bits) {
  Reading point, comma;
  // Where the semicolon separates fields, the comma is usually the decimal point.
  const bool comma_first = table.delimiter == ';';
  for (const bool is_comma : {comma_first, !comma_first}) {
    const NumberStyle style = is_comma ? NumberStyle::kComma : NumberStyle::kPoint;
    Reading& reading = is_comma ? comma : point;
    if (auto column = LearnWrittenNumbers(survey, table.train_rows, style, reading)) {
      RefuseTooLarge(index, survey, style);
      return *column;
    }
  }
  const Reading& best = comma.odd < point.odd ? comma : point;
  if (best.odd_share() < kMistakes) ThrowMixed(index, best, name);
  if (auto column = LearnDates(survey, table.train_rows)) return *column;
  if (IsAllDifferent(survey) && !is_kept) return LeftOut("nearly all of its words differ");
  return LearnCategories(survey, table.train_rows, hash_bits);
}

bool Contains(std::span<const std::int64_t> columns, std::int64_t column) {
  return std::ranges::find(columns, column) != columns.end();
}

}  // namespace

std::string CategoryName(std::string_view word) {
  const auto number = FiniteNumber(word);
  return number ? CanonicalName(*number + 0.0) : std::string(word);
}

std::vector<TableColumn> LearnTable(const TableToLearn& table, const ColumnChoice& choice,
                                    int hash_bits) {
  std::vector<TableColumn> columns;
  for (std::size_t i = 0; i < table.surveys.size(); ++i) {
    const auto index = static_cast<std::int64_t>(i);
    const ColumnSurvey& survey = table.surveys[i];
    const std::string name = table.names.empty() ? "" : table.names[i];
    const bool is_kept = Contains(choice.keep, index);
    const std::string useless = is_kept ? "" : WhyUseless(survey, name);
    TableColumn column;
    if (Contains(choice.ignore, index)) {
      column = LeftOut("--ignore names it");
    } else if (choice.split == index && !is_kept) {
      column = LeftOut("it splits the rows");
    } else if (choice.weight == index) {
      column = LeftOut("it weighs the rows");
    } else if (!useless.empty()) {
      column = LeftOut(useless);
    } else if (Contains(choice.categorical, index)) {
      column = LearnCategories(survey, table.train_rows, hash_bits);
    } else if (survey.words == 0) {
      column = LearnNumbers(survey, table.train_rows);
    } else {
      column = LearnWords(index, survey, table, name, is_kept, hash_bits);
    }
    column.name = name;
    columns.push_back(std::move(column));
  }
  return columns;
}

std::vector<std::int64_t> FindColumns(std::span<const std::string> wanted,
                                      std::span<const std::string> names, std::int64_t columns,
                                      const std::string& source, const std::string& option) {
  std::vector<std::int64_t> found;
  for (const std::string& one : wanted) {
    const auto name = std::ranges::find(names, one);
    std::int64_t number = 0;
    if (name != names.end()) {
      found.push_back(name - names.begin());
    } else if (ReadAll(one, number) && number >= 1 && number <= columns) {
      found.push_back(number - 1);
    } else {
      throw UserError(fmt::format(
          "{}: --{} names {}, and there is no such column; {}", source, option, Quote(one),
          names.empty() ? fmt::format("columns are numbered from 1 to {}", columns)
                        : fmt::format("the columns are {}", fmt::join(names, ", "))));
    }
  }
  return found;
}

}  // namespace hogbatch
