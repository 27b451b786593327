#include "datasets/encoding/table_notes.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.h"
#include "datasets/readers/numbers.h"

namespace hogbatch {
namespace {

constexpr std::size_t kMostNamed = 8;

std::string NameOf(const std::vector<TableColumn>& columns, std::size_t index) {
  return columns[index].name.empty() ? fmt::format("column {}", index + 1) : columns[index].name;
}

// Texts of which only the first few are shown.
class ShortList {
 public:
  void Add(const std::string& text) {
    if (++count_ <= kMostNamed) text_ += (text_.empty() ? "" : ", ") + text;
  }
  std::string text() const {
    if (count_ <= kMostNamed) return text_;
    return fmt::format("{}, ... ({} in all)", text_, count_);
  }

 private:
  std::string text_;
  std::size_t count_ = 0;
};

std::string KindsText(const std::vector<TableColumn>& columns) {
  std::int64_t numbers = 0, dates = 0, words = 0, categories = 0, hashed = 0;
  for (const TableColumn& column : columns) {
    switch (column.kind) {
      case ColumnKind::kNumber:
        ++numbers;
        break;
      case ColumnKind::kCategory:
        ++words;
        categories += std::ssize(column.categories);
        break;
      case ColumnKind::kHashed:
        ++hashed;
        break;
      case ColumnKind::kDate:
        ++dates;
        break;
      case ColumnKind::kLeftOut:
        break;
    }
  }
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (numbers > 0) add(Plural(numbers, "column of numbers", "columns of numbers"));
  if (words > 0) {
    add(fmt::format("{} with {}", Plural(words, "column of words", "columns of words"),
                    Plural(categories, "category", "categories")));
  }
  if (hashed > 0) add(Plural(hashed, "column of hashed words", "columns of hashed words"));
  if (dates > 0) add(Plural(dates, "column of dates", "columns of dates"));
  return text;
}

// ", also for 'unknown'"
std::string WordsText(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += fmt::format("{} {}", text.empty() ? ", also for" : " and", Quote(word));
  }
  return text;
}

std::int64_t MissingCells(const TableColumn& column, const ColumnSurvey& survey) {
  std::int64_t missing = survey.missing;
  for (const std::string& word : column.missing_words) {
    missing += survey.different_words.at(word).rows;
  }
  return missing;
}

std::string FillText(const TableColumn& column) {
  switch (column.kind) {
    case ColumnKind::kNumber:
      return fmt::format("the mean {:.4g}{}", column.fill, WordsText(column.missing_words));
    case ColumnKind::kCategory:
      return fmt::format("the most frequent, {}", column.categories[column.fill_category]);
    case ColumnKind::kDate:
      return "the mean";
    case ColumnKind::kHashed:
    case ColumnKind::kLeftOut:
      break;
  }
  return "nothing";
}

}  // namespace

std::string LeftOutText(const std::vector<TableColumn>& columns) {
  ShortList list;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].kind != ColumnKind::kLeftOut) continue;
    list.Add(fmt::format("{} ({})", NameOf(columns, i), columns[i].reason));
  }
  return list.text();
}

std::vector<std::string> TableNotes(const std::vector<TableColumn>& columns,
                                    std::span<const ColumnSurvey> surveys) {
  const bool all_numbers = std::ranges::all_of(
      columns, [](const TableColumn& column) { return column.kind == ColumnKind::kNumber; });
  std::vector<std::string> notes;
  if (!all_numbers) notes.push_back(fmt::format("columns   {}", KindsText(columns)));
  if (const std::string left_out = LeftOutText(columns); !left_out.empty()) {
    notes.push_back(fmt::format("left out  {}; --keep takes a column in", left_out));
  }
  ShortList filled;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::int64_t missing = MissingCells(columns[i], surveys[i]);
    if (columns[i].kind == ColumnKind::kLeftOut || missing == 0) continue;
    filled.Add(fmt::format("{} in {} by {}", NameOf(columns, i), Plural(missing, "row", "rows"),
                           FillText(columns[i])));
  }
  if (!filled.text().empty()) notes.push_back(fmt::format("filled    {}", filled.text()));
  return notes;
}

}  // namespace hogbatch
