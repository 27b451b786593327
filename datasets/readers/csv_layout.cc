#include "datasets/readers/csv_layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "core/error.h"
#include "core/guard/printable.h"
#include "datasets/readers/numbers.h"
#include "datasets/readers/parsed_file.h"

namespace hogbatch {
namespace {

constexpr std::string_view kBlanks = " \t\r";
constexpr std::size_t kMostColumns = std::size_t{1} << 20;
constexpr std::size_t kMostHeadBytes = std::size_t{64} << 20;

std::string_view Trim(std::string_view field) {
  field.remove_prefix(std::min(field.find_first_not_of(kBlanks), field.size()));
  return field.substr(0, field.find_last_not_of(kBlanks) + 1);
}

std::string Unquote(std::string_view field) {
  field = Trim(field);
  if (!field.starts_with('"')) return std::string(field);
  std::string name;
  for (std::size_t i = 1; i < field.size(); ++i) {
    if (field[i] == '"' && (i + 1 == field.size() || field[i + 1] != '"')) break;
    if (field[i] == '"') ++i;
    name += field[i];
  }
  return name;
}

// Length of the first field of `rest`; delimiters inside quotes belong to the field.
std::size_t FieldSize(std::string_view rest, char delimiter) {
  bool quoted = false;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    if (rest[i] == '"') quoted = !quoted;
    if (rest[i] == delimiter && !quoted) return i;
  }
  return rest.size();
}

std::size_t CountFields(std::string_view line, char delimiter) {
  std::size_t count = 1;
  for (std::size_t size = FieldSize(line, delimiter); size < line.size();
       size = FieldSize(line, delimiter)) {
    line.remove_prefix(size + 1);
    ++count;
  }
  return count;
}

char FindDelimiter(std::string_view line) {
  char best = ',';
  std::size_t most = 0;
  for (const char candidate : {',', ';', '\t'}) {
    const std::size_t count = CountFields(line, candidate);
    if (count > most) best = candidate;
    most = std::max(most, count);
  }
  return best;
}

// Removes the next non-blank line from `text` and returns it; empty at the end.
std::string_view TakeLine(std::string_view& text) {
  while (!text.empty()) {
    const std::size_t newline = text.find('\n');
    const std::string_view line = text.substr(0, newline);
    text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
    if (!Trim(line).empty()) return line;
  }
  return {};
}

struct FirstLines {
  std::string_view line;  // the first
  std::string_view rest;  // the text after it
  char delimiter;
  std::vector<std::string> first;
  std::vector<std::string> second;
};

FirstLines ReadFirstLines(std::string_view text, const std::string& source) {
  FirstLines lines{};
  lines.rest = text;
  lines.line = TakeLine(lines.rest);
  if (lines.line.empty()) {
    throw UserError(fmt::format("{}: the file has no rows; use one with rows of data", source));
  }
  lines.delimiter = FindDelimiter(lines.line);
  const std::size_t columns = CountFields(lines.line, lines.delimiter);
  if (columns > kMostColumns) {
    ThrowAt(source, text, lines.line.data(),
            fmt::format("the line has {} columns, and a CSV file may have {}; write rows that are "
                        "mostly 0 as LIBSVM (label index:value ...)",
                        columns, kMostColumns));
  }
  lines.first = SplitCsv(lines.line, lines.delimiter);
  std::string_view rest = lines.rest;
  lines.second = SplitCsv(TakeLine(rest), lines.delimiter);
  if (lines.first.size() < 2) {
    ThrowAt(
        source, text, lines.line.data(),
        "the line has one column only, or the file is neither CSV (comma, semicolon or tab) nor "
        "LIBSVM (label index:value ...); convert it to one of them");
  }
  return lines;
}

// The first line is a header if most of its fields are words; a single word among numbers is a
// mistake in the data and is reported as one. Labels may be words, too: if only the field of the
// label is a word, it is a name if the field below it is a number.
bool HasHeader(const FirstLines& lines, std::int64_t label) {
  std::size_t words = 0, numbers = 0;
  for (std::size_t i = 0; i < lines.first.size(); ++i) {
    const bool is_word = !lines.first[i].empty() && !LooksNumeric(lines.first[i]);
    if (static_cast<std::int64_t>(i) != label) {
      ++(is_word ? words : numbers);
    } else if (is_word && i < lines.second.size() && LooksNumeric(lines.second[i])) {
      return true;
    }
  }
  return words > numbers;
}

// Which column is the label, and whether it was found by its name.
struct LabelChoice {
  std::int64_t column = -1;
  bool by_name = false;
};

// The column that `label` means, or none. A number is a position even if a column has that name.
std::optional<LabelChoice> ResolveLabel(const std::string& label, const FirstLines& lines) {
  const auto columns = static_cast<std::int64_t>(lines.first.size());
  if (label == "auto" || label == "last" || label.empty()) return LabelChoice{columns - 1};
  if (label == "first") return LabelChoice{0};
  std::int64_t position = 0;
  const char* end = label.data() + label.size();
  const std::from_chars_result number = std::from_chars(label.data(), end, position);
  if (number.ec == std::errc() && number.ptr == end && position >= 1 && position <= columns) {
    return LabelChoice{position - 1};
  }
  const auto name = std::find(lines.first.begin(), lines.first.end(), label);
  // A line of numbers is no header, even if one of them equals `label`.
  if (name == lines.first.end() || !HasHeader(lines, -1)) return std::nullopt;
  return LabelChoice{name - lines.first.begin(), true};
}

CsvLayout MakeLayout(const FirstLines& lines, std::string_view text, LabelChoice label) {
  CsvLayout layout;
  layout.delimiter = lines.delimiter;
  layout.columns = static_cast<std::int64_t>(lines.first.size());
  layout.label = label.column;
  const bool header = label.by_name || HasHeader(lines, label.column);
  layout.rows_at = header ? static_cast<std::size_t>(lines.rest.data() - text.data()) : 0;
  if (header) {
    for (const std::string& name : lines.first) layout.names.push_back(Printable(name));
  }
  return layout;
}

[[noreturn]] void ThrowOtherName(const CsvLayout& layout, const FirstLines& lines,
                                 std::string_view text, const std::string& source,
                                 std::int64_t column, const std::string& expected) {
  const auto found = std::find(layout.names.begin(), layout.names.end(), expected);
  const std::string advice =
      found == layout.names.end()
          ? "use a file with the columns that the model was trained on, in the same order"
          : fmt::format(
                "{} is column {} of this file: put its columns in the order of the "
                "training file",
                Quote(expected), found - layout.names.begin() + 1);
  ThrowAt(source, text, FindCsvField(lines.line, layout.delimiter, column),
          fmt::format("column {} is {}, but the model expects {}{}; {}", column + 1,
                      Quote(layout.names[static_cast<std::size_t>(column)]),
                      column == layout.label ? "its label " : "", Quote(expected), advice));
}

// Columns are matched by position, so a header with other names means other columns.
void CheckNames(const CsvLayout& layout, const FirstLines& lines, std::string_view text,
                const std::string& source, const Schema& schema) {
  if (layout.names.empty() || schema.column_names.empty()) return;
  auto feature = schema.column_names.begin();
  for (std::int64_t i = 0; i < layout.columns; ++i) {
    const std::string& expected = i == layout.label ? schema.label_name : *feature++;
    if (layout.names[static_cast<std::size_t>(i)] != expected) {
      ThrowOtherName(layout, lines, text, source, i, expected);
    }
  }
}

[[noreturn]] void ThrowNoLabel(const FirstLines& lines, std::string_view text,
                               const std::string& source, const std::string& label) {
  if (FiniteNumber(label)) {
    ThrowAt(source, text, lines.line.data(),
            fmt::format("there is no label column {}; columns are numbered from 1 to {}", label,
                        lines.first.size()));
  }
  if (!HasHeader(lines, -1)) {
    ThrowAt(source, text, lines.line.data(),
            fmt::format("the file has no header that names a label column {}; give its number, "
                        "first or last with --label",
                        Quote(label)));
  }
  constexpr std::size_t kShown = 20;
  const auto shown = std::min(kShown, lines.first.size());
  ThrowAt(source, text, lines.line.data(),
          fmt::format("no column is called {}; the columns are {}{}", Quote(label),
                      fmt::join(lines.first.begin(),
                                lines.first.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                      shown < lines.first.size() ? ", ..." : ""));
}

// Whether the text begins with two lines that are complete and not blank.
bool HasTwoLines(std::string_view text) {
  text = text.substr(0, text.rfind('\n') + 1);  // npos + 1 is 0
  return !TakeLine(text).empty() && !TakeLine(text).empty();
}

}  // namespace

std::string_view ReadCsvHead(const TextSource& text, const std::string& source, Bytes& window) {
  for (std::size_t bytes = std::size_t{1} << 16; bytes <= kMostHeadBytes; bytes *= 4) {
    const std::string_view head = text.Read(0, bytes, window);
    if (head.size() == text.size() || HasTwoLines(head)) return head;
  }
  throw UserError(fmt::format(
      "{}: its first two lines take more than {} MB, which is no table of numbers; write one row "
      "per line",
      source, kMostHeadBytes >> 20));
}

CsvLayout FindCsvLayout(std::string_view head, const std::string& source,
                        const std::string& label) {
  const FirstLines lines = ReadFirstLines(head, source);
  const std::optional<LabelChoice> column = ResolveLabel(label, lines);
  if (!column) ThrowNoLabel(lines, head, source, label);
  return MakeLayout(lines, head, *column);
}

CsvLayout FindCsvLayout(std::string_view head, const std::string& source, const Schema& schema,
                        Labels labels) {
  const FirstLines lines = ReadFirstLines(head, source);
  const auto columns = static_cast<std::int64_t>(lines.first.size());
  LabelChoice label;
  if (columns != schema.file_columns || labels == Labels::kRequired) {
    if (columns != schema.file_columns + 1) {
      ThrowAt(
          source, head, lines.line.data(),
          fmt::format("{} columns, but the model expects {} features{} a label; use a file with "
                      "the columns it was trained on",
                      columns, schema.file_columns,
                      labels == Labels::kRequired ? " and" : ", with or without"));
    }
    const std::optional<LabelChoice> found = ResolveLabel(schema.label_column, lines);
    if (!found) ThrowNoLabel(lines, head, source, schema.label_column);
    label = *found;
  }
  CsvLayout layout = MakeLayout(lines, head, label);
  CheckNames(layout, lines, head, source, schema);
  return layout;
}

std::vector<std::string> SplitCsv(std::string_view line, char delimiter) {
  std::vector<std::string> fields;
  while (true) {
    const std::size_t size = FieldSize(line, delimiter);
    fields.push_back(Unquote(line.substr(0, size)));
    if (size == line.size()) return fields;
    line.remove_prefix(size + 1);
  }
}

const char* FindCsvField(std::string_view line, char delimiter, std::int64_t index) {
  for (; index > 0; --index) line.remove_prefix(FieldSize(line, delimiter) + 1);
  const std::size_t blanks = line.find_first_not_of(' ');
  return line.data() + (blanks == std::string_view::npos ? 0 : blanks);
}

}  // namespace hogbatch
