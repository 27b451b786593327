#include "datasets/readers/csv_layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "core/error.h"
#include "datasets/readers/numbers.h"
#include "datasets/readers/parsed_file.h"

namespace hogbatch {
namespace {

constexpr std::string_view kBlanks = " \t\r";

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

// The end of the field at the front of `rest`, which quotes may let run over delimiters.
std::size_t FieldSize(std::string_view rest, char delimiter) {
  bool quoted = false;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    if (rest[i] == '"') quoted = !quoted;
    if (rest[i] == delimiter && !quoted) return i;
  }
  return rest.size();
}

char FindDelimiter(std::string_view line) {
  char best = ',';
  std::ptrdiff_t most = 0;
  for (const char candidate : {',', ';', '\t'}) {
    const auto count = static_cast<std::ptrdiff_t>(SplitCsv(line, candidate).size());
    if (count > most) best = candidate;
    most = std::max(most, count);
  }
  return best;
}

// Takes the next line that is not blank off `text`; empty at the end.
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
    throw UserError(fmt::format("{}: holds no rows; name a file with data", source));
  }
  lines.delimiter = FindDelimiter(lines.line);
  lines.first = SplitCsv(lines.line, lines.delimiter);
  std::string_view rest = lines.rest;
  lines.second = SplitCsv(TakeLine(rest), lines.delimiter);
  if (lines.first.size() < 2) {
    ThrowAt(source, text, lines.line.data(),
            "one column only, or neither CSV (comma, semicolon or tab) nor LIBSVM (label "
            "index:value ...); convert the file to one of them");
  }
  return lines;
}

// Most names of a header are no numbers; a single word among numbers is a mistake in the data, to
// be told as one. A label may be a word, so where only the label is one, the second line decides: a
// number below it makes it a name.
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

// Which column is the label, and whether the header said so.
struct LabelChoice {
  std::int64_t column = -1;
  bool by_name = false;
};

// The column that `label` means, or none. Positions win over names that look like them.
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
  // A line of numbers names nothing, even where one of them is `label`.
  if (name == lines.first.end() || !HasHeader(lines, -1)) return std::nullopt;
  return LabelChoice{name - lines.first.begin(), true};
}

CsvLayout MakeLayout(const FirstLines& lines, std::string_view text, LabelChoice label) {
  CsvLayout layout;
  layout.delimiter = lines.delimiter;
  layout.columns = static_cast<std::int64_t>(lines.first.size());
  layout.label = label.column;
  const bool header = label.by_name || HasHeader(lines, label.column);
  layout.rows = header ? lines.rest : text;
  return layout;
}

[[noreturn]] void ThrowNoLabel(const FirstLines& lines, std::string_view text,
                               const std::string& source, const std::string& label) {
  if (FiniteNumber(label)) {
    ThrowAt(source, text, lines.line.data(),
            fmt::format("there is no label column {}; columns count from 1 to {}", label,
                        lines.first.size()));
  }
  if (!HasHeader(lines, -1)) {
    ThrowAt(source, text, lines.line.data(),
            fmt::format("no header names a label column {}; give its number, first or last with "
                        "--label",
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

}  // namespace

CsvLayout FindCsvLayout(std::string_view text, const std::string& source,
                        const std::string& label) {
  const FirstLines lines = ReadFirstLines(text, source);
  const std::optional<LabelChoice> column = ResolveLabel(label, lines);
  if (!column) ThrowNoLabel(lines, text, source, label);
  return MakeLayout(lines, text, *column);
}

CsvLayout FindCsvLayout(std::string_view text, const std::string& source, const Schema& schema,
                        Labels labels) {
  const FirstLines lines = ReadFirstLines(text, source);
  const auto columns = static_cast<std::int64_t>(lines.first.size());
  if (columns == schema.file_columns && labels == Labels::kOptional) {
    return MakeLayout(lines, text, {});
  }
  if (columns != schema.file_columns + 1) {
    ThrowAt(source, text, lines.line.data(),
            fmt::format("{} columns but the model knows {} features and a label; use a file with "
                        "the columns it was trained on",
                        columns, schema.file_columns));
  }
  const std::optional<LabelChoice> column = ResolveLabel(schema.label_column, lines);
  if (!column) ThrowNoLabel(lines, text, source, schema.label_column);
  return MakeLayout(lines, text, *column);
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
