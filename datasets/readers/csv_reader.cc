#include "datasets/readers/csv_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "datasets/readers/csv_fields.h"
#include "datasets/readers/missing.h"
#include "datasets/readers/numbers.h"
#include "datasets/text/utf8.h"

namespace hogbatch {
namespace {

// Gives the different words of a column numbers in the order in which they appear.
class WordNumbers {
 public:
  WordNumbers(std::vector<std::string>& words, bool& has_older_text)
      : words_(words), has_older_text_(has_older_text) {}

  // `where` the word is, for errors.
  std::int32_t Find(std::string_view word, const char* where) {
    const auto found = numbers_.find(word);
    if (found != numbers_.end()) return found->second;
    if (word.find('\0') != std::string_view::npos) throw ParseFailure{where, kZeroByte};
    const std::int32_t number =
        IsMissing(word) ? Cell::kMissing : static_cast<std::int32_t>(words_.size());
    if (number >= 0) words_.push_back(ToUtf8(word));
    if (!IsUtf8(word)) has_older_text_ = true;
    numbers_.emplace(word, number);
    return number;
  }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view word) const {
      return std::hash<std::string_view>()(word);
    }
  };
  std::vector<std::string>& words_;
  bool& has_older_text_;
  std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> numbers_;
};

const char* SkipLine(const char* at, const char* end) {
  at = std::find(at, end, '\n');
  return SkipLineEnd(at, end);
}

// The first record from `at` on that is neither blank nor a comment; `end` if there is none.
const char* NextRecord(const char* at, const char* end, bool has_comments) {
  while (at != end && (IsBlankLine(at, end) || (has_comments && *at == '#'))) {
    at = SkipLine(at, end);
  }
  return at;
}

class CsvParser {
 public:
  CsvParser(std::string_view text, const CsvPlan& plan, ParsedRows& out)
      : at_(text.data()),
        end_(text.data() + text.size()),
        plan_(plan),
        out_(out),
        label_words_(out.words, out.has_older_text) {
    std::int32_t most = -1;
    for (const CsvColumn& column : plan.columns) most = std::max(most, column.column);
    for (const std::int32_t column : plan.absent) most = std::max(most, column);
    words_.resize(static_cast<std::size_t>(most) + 1);
  }

  void Run() {
    for (at_ = NextRecord(at_, end_, plan_.has_comments); at_ != end_;
         at_ = NextRecord(at_, end_, plan_.has_comments)) {
      ParseRecord();
    }
  }

 private:
  void ParseRecord() {
    last_ = -1;
    order_ = ParsedRows::Order::kAscending;
    for (std::size_t i = 0; i < plan_.columns.size(); ++i) {
      if (i > 0) NextField(i);
      ParseField(plan_.columns[i]);
    }
    SkipBlanks();
    if (!AtLineEnd()) FailTooManyFields();
    at_ = SkipLineEnd(at_, end_);
    for (const std::int32_t column : plan_.absent) out_.cells.push_back({column, Cell::kMissing});
    out_.EndRow(order_);
  }

  void ParseField(const CsvColumn& column) {
    SkipBlanks();
    switch (column.kind) {
      case CsvColumn::Kind::kNumber:
        ParseNumberField(column.column);
        break;
      case CsvColumn::Kind::kWord:
        AddWord(column.column, TakeField());
        break;
      case CsvColumn::Kind::kLabel:
        ParseLabel();
        break;
      case CsvColumn::Kind::kSkipped:
        TakeField();
        break;
    }
  }

  void ParseNumberField(std::int32_t column) {
    float value = 0;
    const char* const after = ParseNumber(at_, end_, value);
    if (after != nullptr && EndsField(after) && std::isfinite(value)) {
      at_ = after;
      return Add(column, value);
    }
    const std::string_view field = TakeField();
    const char* const end = field.data() + field.size();
    if (!field.empty() && ParseNumber(field.data(), end, value) == end && std::isfinite(value)) {
      return Add(column, value);
    }
    AddWord(column, field);
  }

  void Add(std::int32_t column, float value) {
    if (column < last_) order_ = ParsedRows::Order::kDisordered;
    last_ = column;
    out_.Add(column, value);
  }

  void AddWord(std::int32_t column, std::string_view word) {
    std::unique_ptr<WordNumbers>& words = words_[column];
    if (!words) {
      words = std::make_unique<WordNumbers>(out_.column_words[column], out_.has_older_text);
    }
    out_.cells.push_back({column, words->Find(word, field_at_)});
  }

  void ParseLabel() {
    const std::string_view field = TakeField();
    if (IsMissing(field)) return;
    double value = 0;
    const char* const end = field.data() + field.size();
    if (!plan_.labels_are_words && ParseNumber(field.data(), end, value) == end &&
        std::isfinite(value)) {
      if (!out_.label_words.empty()) out_.label_words.push_back(-1);
      out_.labels.push_back(value + 0.0);  // -0 becomes 0
      return;
    }
    out_.label_words.resize(out_.labels.size(), -1);
    out_.label_words.push_back(label_words_.Find(field, field_at_));
    out_.labels.push_back(0);
  }

  // The field as it was meant, until the next call.
  std::string_view TakeField() {
    field_at_ = at_;
    const CsvField field = ReadCsvField(at_, end_, plan_.delimiter);
    if (field.is_open) {
      throw ParseFailure{at_, "a quotation mark is not closed; close it", /*is_open=*/true};
    }
    at_ = field.end;
    if (!field.is_escaped) return field.text;
    unescaped_ = Unescaped(field);
    return unescaped_;
  }

  void NextField(std::size_t fields_read) {
    const bool blanks = plan_.delimiter == kBlanks;
    if (blanks) SkipBlanks();
    if (AtLineEnd()) {
      throw ParseFailure{at_, fmt::format("the line ends after {} of {} fields; complete or remove "
                                          "it",
                                          fields_read, plan_.columns.size())};
    }
    if (blanks) return;
    if (*at_ != plan_.delimiter) FailTooManyFields();
    ++at_;
  }

  [[noreturn]] void FailTooManyFields() const {
    throw ParseFailure{
        at_, fmt::format("the line has more than {} fields; correct or remove it, or quote fields "
                         "that contain the delimiter",
                         plan_.columns.size())};
  }

  // Blanks behind a number are left to TakeField.
  bool EndsField(const char* p) const {
    return p == end_ || *p == plan_.delimiter || *p == '\n' ||
           (*p == '\r' && (p + 1 == end_ || p[1] == '\n'));
  }
  bool AtLineEnd() const { return at_ == end_ || *at_ == '\n'; }
  void SkipBlanks() { at_ = hogbatch::SkipBlanks(at_, end_, plan_.delimiter); }

  const char* at_;
  const char* const end_;
  const char* field_at_ = nullptr;  // of the last field that was taken
  const CsvPlan& plan_;
  ParsedRows& out_;
  std::vector<std::unique_ptr<WordNumbers>> words_;  // by column
  WordNumbers label_words_;
  std::string unescaped_;
  std::int32_t last_ = -1;
  ParsedRows::Order order_ = ParsedRows::Order::kAscending;
};

}  // namespace

void ParseCsv(std::string_view text, const CsvPlan& plan, ParsedRows& out) {
  out.columns.reserve(text.size() / 4);
  out.values.reserve(text.size() / 4);
  CsvParser(text, plan, out).Run();
}

std::vector<std::string_view> CsvRecords(std::string_view text, const CsvPlan& plan) {
  std::vector<std::string_view> records;
  const char* const end = text.data() + text.size();
  const char* at = NextRecord(text.data(), end, plan.has_comments);
  while (at != end) {
    const CsvRecord record = ReadCsvRecord(at, end, plan.delimiter, 0);
    std::string_view line(at, record.end);
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
    records.push_back(line);
    at = NextRecord(record.end, end, plan.has_comments);
  }
  return records;
}

const char* FindCsvCell(std::string_view text, const CsvPlan& plan, std::int64_t row,
                        std::int64_t column) {
  const char* const end = text.data() + text.size();
  const char* at = NextRecord(text.data(), end, plan.has_comments);
  while (at != end) {
    const CsvRecord record = ReadCsvRecord(at, end, plan.delimiter, plan.columns.size());
    if (row-- == 0) {
      const auto index = static_cast<std::size_t>(column);
      return index < record.places.size() ? record.places[index] : record.begin;
    }
    at = NextRecord(record.end, end, plan.has_comments);
  }
  return text.data();  // the file has changed meanwhile
}

}  // namespace hogbatch
