#include "datasets/readers/csv_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <unordered_map>

#include "core/error.h"
#include "datasets/readers/numbers.h"

namespace hogbatch {
namespace {

bool IsBlankLine(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

class CsvParser {
 public:
  CsvParser(std::string_view text, char delimiter, const std::vector<CsvColumn>& columns,
            ParsedRows& out)
      : text_(text), delimiter_(delimiter), columns_(columns), out_(out) {}

  void Run() {
    while (!text_.empty()) {
      const std::size_t newline = text_.find('\n');
      std::string_view line = text_.substr(0, newline);
      text_.remove_prefix(newline == std::string_view::npos ? text_.size() : newline + 1);
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (!IsBlankLine(line)) ParseLine(line);
    }
  }

 private:
  void ParseLine(std::string_view line) {
    at_ = line.data();
    end_ = line.data() + line.size();
    last_ = -1;
    order_ = ParsedRows::Order::kAscending;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (i > 0) NextField(i);
      switch (columns_[i].kind) {
        case CsvColumn::Kind::kNumber:
          Add(columns_[i].feature, ParseNumberField());
          break;
        case CsvColumn::Kind::kLabel:
          ParseLabel();
          break;
        case CsvColumn::Kind::kCategory:
          ParseCategory(columns_[i]);
          break;
      }
    }
    if (at_ != end_) FailFieldEnd();
    out_.EndRow(order_);
  }

  void Add(std::int32_t feature, float value) {
    if (feature < last_) order_ = ParsedRows::Order::kDisordered;
    last_ = feature;
    out_.Add(feature, value);
  }

  void NextField(std::size_t fields_read) {
    if (at_ == end_) {
      throw ParseFailure{at_, fmt::format("the line ends after {} of {} fields; complete or remove "
                                          "it",
                                          fields_read, columns_.size())};
    }
    if (*at_ != delimiter_) FailFieldEnd();
    ++at_;
  }

  float ParseNumberField() {
    SkipBlanks();
    const char* begin = at_;
    float value = 0;
    const char* after = ParseNumber(at_, end_, value);
    if (after == nullptr || !AtFieldEnd(after) || !std::isfinite(value)) {
      const std::string field = TakeField();
      const char* end = field.data() + field.size();
      if (ParseNumber(field.data(), end, value) != end || !std::isfinite(value)) {
        throw ParseFailure{begin, DescribeBadNumber(field)};
      }
      return value;
    }
    at_ = after;
    return value;
  }

  void ParseCategory(const CsvColumn& column) {
    SkipBlanks();
    const char* begin = at_;
    const float value = ParseNumberField();
    const auto found =
        std::find_if(column.values.begin(), column.values.end(),
                     [value](std::int64_t known) { return static_cast<float>(known) == value; });
    if (found == column.values.end()) {
      throw ParseFailure{begin,
                         fmt::format("{} is none of the categories of this column ({} to {}); "
                                     "correct or remove it",
                                     value, column.values.front(), column.values.back())};
    }
    Add(column.feature + static_cast<std::int32_t>(found - column.values.begin()), 1);
  }

  void ParseLabel() {
    SkipBlanks();
    const char* begin = at_;
    const std::string field = TakeField();
    double value = 0;
    const char* end = field.data() + field.size();
    const bool is_number = !field.empty() && ParseNumber(field.data(), end, value) == end;
    if (field.empty() || (is_number && !std::isfinite(value))) {
      throw ParseFailure{begin, "label: " + DescribeBadNumber(field)};
    }
    if (!is_number) {
      const auto [word, is_new] =
          word_ids_.try_emplace(field, static_cast<std::int32_t>(out_.words.size()));
      if (is_new) out_.words.push_back(field);
      out_.label_words.resize(out_.labels.size(), -1);
      out_.label_words.push_back(word->second);
      out_.labels.push_back(0);
      return;
    }
    if (!out_.label_words.empty()) out_.label_words.push_back(-1);
    out_.labels.push_back(value + 0.0);  // -0 becomes 0
  }

  // The field, trimmed and unquoted. Slow: for fields that are not plain numbers.
  std::string TakeField() {
    const char* begin = at_;
    bool quoted = false;
    while (at_ != end_ && (quoted || *at_ != delimiter_)) {
      if (*at_ == '"') quoted = !quoted;
      ++at_;
    }
    if (quoted) throw ParseFailure{begin, "a quotation mark is not closed; close it on this line"};
    return SplitCsv({begin, static_cast<std::size_t>(at_ - begin)}, delimiter_).front();
  }

  [[noreturn]] void FailFieldEnd() const {
    throw ParseFailure{
        at_, fmt::format("the line has more than {} fields; correct or remove it, or quote fields "
                         "that contain the delimiter",
                         columns_.size())};
  }

  // Whether the field ends at `p`. Blanks after a number are left to TakeField.
  bool AtFieldEnd(const char* p) const { return p == end_ || *p == delimiter_; }
  void SkipBlanks() {
    while (at_ != end_ && *at_ == ' ') ++at_;
  }

  std::string_view text_;
  const char delimiter_;
  const std::vector<CsvColumn>& columns_;
  ParsedRows& out_;
  std::unordered_map<std::string, std::int32_t> word_ids_;
  const char* at_ = nullptr;  // in the present line
  const char* end_ = nullptr;
  std::int32_t last_ = -1;
  ParsedRows::Order order_ = ParsedRows::Order::kAscending;
};

}  // namespace

std::vector<CsvColumn> PlanColumns(const CsvLayout& layout,
                                   const std::vector<CategoricalColumn>& categorical) {
  const std::int64_t file_columns = layout.columns - (layout.label >= 0 ? 1 : 0);
  std::vector<CsvColumn> columns(static_cast<std::size_t>(layout.columns));
  if (layout.label >= 0) {
    columns[static_cast<std::size_t>(layout.label)].kind = CsvColumn::Kind::kLabel;
  }
  std::int64_t feature = file_columns - static_cast<std::int64_t>(categorical.size());
  for (const CategoricalColumn& category : categorical) {
    const bool after_label = layout.label >= 0 && category.column >= layout.label;
    columns[static_cast<std::size_t>(category.column + (after_label ? 1 : 0))] = {
        .kind = CsvColumn::Kind::kCategory,
        .feature = static_cast<std::int32_t>(feature),
        .values = category.values};
    feature += static_cast<std::int64_t>(category.values.size());
  }
  std::int32_t next_number = 0;
  for (CsvColumn& column : columns) {
    if (column.kind == CsvColumn::Kind::kNumber) column.feature = next_number++;
  }
  return columns;
}

std::int64_t CountFeatures(std::int64_t file_columns,
                           const std::vector<CategoricalColumn>& categorical) {
  std::int64_t features = file_columns;
  for (const CategoricalColumn& category : categorical) {
    features += static_cast<std::int64_t>(category.values.size()) - 1;
  }
  return features;
}

void ParseCsv(std::string_view text, char delimiter, const std::vector<CsvColumn>& columns,
              ParsedRows& out) {
  out.columns.reserve(text.size() / 4);
  out.values.reserve(text.size() / 4);
  CsvParser(text, delimiter, columns, out).Run();
}

const char* FindCsvLabel(std::string_view text, const CsvLayout& layout, std::int64_t row) {
  while (true) {
    const std::size_t size = text.find('\n');
    const std::string_view line = text.substr(0, size);
    if (!IsBlankLine(line) && row-- == 0) return FindCsvField(line, layout.delimiter, layout.label);
    if (size == std::string_view::npos) return line.data();  // the file has changed meanwhile
    text.remove_prefix(size + 1);
  }
}

}  // namespace hogbatch
