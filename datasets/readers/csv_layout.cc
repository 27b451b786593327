#include "datasets/readers/csv_layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "core/error.h"
#include "core/guard/printable.h"
#include "datasets/readers/csv_fields.h"
#include "datasets/readers/numbers.h"
#include "datasets/readers/parsed_file.h"
#include "datasets/text/utf8.h"

namespace hogbatch {
namespace {

constexpr std::size_t kMostHeadBytes = std::size_t{64} << 20;

// The first record and the ones below it, of a text and its name in errors.
struct Head {
  std::string_view text;
  const std::string& source;
  CsvSample sample;

  const CsvRecord& first() const { return sample.records.front(); }
  [[noreturn]] void ThrowAt(const char* where, std::string_view what) const {
    hogbatch::ThrowAt(source, text, where, what);
  }
};

Head ReadHead(std::string_view text, const std::string& source, CsvForm form) {
  Head head{.text = text, .source = source, .sample = SampleCsv(text, form)};
  if (head.sample.records.empty()) {
    throw UserError(fmt::format("{}: the file has no rows; use one with rows of data", source));
  }
  if (head.first().fields.size() > kMostCsvColumns) {
    head.ThrowAt(head.first().begin,
                 fmt::format("the line has more than {} columns; write rows that are mostly 0 as "
                             "LIBSVM (label index:value ...)",
                             kMostCsvColumns));
  }
  if (head.first().fields.size() < 2) {
    head.ThrowAt(
        head.first().begin,
        "the line has one column only, or the file is neither CSV (comma, semicolon, tab, "
        "| or blanks), LIBSVM (label index:value ...) nor JSON lines; convert it to one of them");
  }
  return head;
}

// Which of two columns has the name of another is never guessed.
void CheckNames(const Head& head, const std::vector<std::string>& names) {
  std::map<std::string_view, std::size_t> seen;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) continue;
    const auto [place, is_new] = seen.emplace(names[i], i);
    if (is_new) continue;
    head.ThrowAt(head.first().places[i],
                 fmt::format("columns {} and {} are both called {}; rename one of them",
                             place->second + 1, i + 1, Quote(names[i])));
  }
}

std::string NameIn(const std::string& field) { return Printable(ToUtf8(field)); }

CsvLayout MakeLayout(const Head& head, bool has_header) {
  CsvLayout layout{.delimiter = head.sample.delimiter,
                   .columns = static_cast<std::int64_t>(head.first().fields.size()),
                   .names = {},
                   .has_comments = head.sample.has_comments};
  const char* const rows = has_header ? head.first().end : head.first().begin;
  layout.rows_at = rows - head.text.data();
  if (!has_header) return layout;
  for (const std::string& name : head.first().fields) layout.names.push_back(NameIn(name));
  CheckNames(head, layout.names);
  return layout;
}

// The column that `label` means, or none. A number is a position even if a column has that name.
std::optional<std::int64_t> ResolveLabel(const std::string& label, const CsvLayout& layout) {
  if (label == kAutoLabel || label == kLastLabel || label.empty()) return layout.columns - 1;
  if (label == kFirstLabel) return 0;
  std::int64_t position = 0;
  const char* end = label.data() + label.size();
  const std::from_chars_result number = std::from_chars(label.data(), end, position);
  if (number.ec == std::errc() && number.ptr == end && position >= 1 &&
      position <= layout.columns) {
    return position - 1;
  }
  const auto name = std::ranges::find(layout.names, label);
  if (name == layout.names.end()) return std::nullopt;
  return name - layout.names.begin();
}

// The label column if it goes by its place, so that it is known before the header; else -1.
std::int64_t LabelByPlace(const std::string& label, const Head& head) {
  const CsvLayout nameless{.columns = std::ssize(head.first().fields)};
  return ResolveLabel(label, nameless).value_or(-1);
}

[[noreturn]] void ThrowNoLabel(const Head& head, const CsvLayout& layout,
                               const std::string& label) {
  if (FiniteNumber(label)) {
    head.ThrowAt(head.first().begin,
                 fmt::format("there is no label column {}; columns are numbered from 1 to {}",
                             label, layout.columns));
  }
  if (layout.names.empty()) {
    head.ThrowAt(head.first().begin,
                 fmt::format("the file has no header that names a label column {}; give its "
                             "number, first or last with --label",
                             Quote(label)));
  }
  constexpr std::size_t kShown = 20;
  const auto shown = std::min(kShown, layout.names.size());
  head.ThrowAt(head.first().begin,
               fmt::format("no column is called {}; the columns are {}{}", Quote(label),
                           fmt::join(std::span(layout.names).first(shown), ", "),
                           shown < layout.names.size() ? ", ..." : ""));
}

bool HasNames(const Schema& schema) {
  return std::ranges::any_of(schema.table,
                             [](const TableColumn& column) { return !column.name.empty(); });
}

// Whether the first line has the names of the model's columns: most of them, as some may be absent.
bool NamesColumnsOf(const Schema& schema, const CsvRecord& line) {
  std::size_t known = 0, named = 0;
  for (const TableColumn& column : schema.table) {
    if (column.name.empty()) continue;
    ++named;
    const auto has_name = [&](const std::string& field) { return NameIn(field) == column.name; };
    if (std::ranges::any_of(line.fields, has_name)) ++known;
  }
  return 2 * known > named;
}

// Columns without a name go by their order, and so does a label without one. Returns which of the
// nameless columns of this file it is; none if it has a name, or is not in the file.
std::optional<std::int64_t> NamelessLabel(const Schema& schema,
                                          const std::vector<std::string>& names) {
  const auto nameless = [&](std::int64_t columns) {
    return std::ranges::count_if(std::span(schema.table).first(columns), &std::string::empty,
                                 &TableColumn::name);
  };
  const std::int64_t in_table = std::ssize(schema.table);
  const bool is_there = std::ranges::count(names, std::string()) > nameless(in_table);
  if (!schema.label_name.empty() || !is_there) return std::nullopt;
  const auto place = ResolveLabel(schema.label_column, {.columns = in_table + 1});
  if (!place) return std::nullopt;
  return nameless(*place);
}

void MatchByName(const Head& head, const Schema& schema, Labels labels, AbsentColumns absent,
                 CsvMatch& match) {
  const std::optional<std::int64_t> nameless_label = NamelessLabel(schema, match.layout.names);
  std::int64_t nameless = 0;
  std::multimap<std::string_view, std::int64_t> in_table;
  for (std::size_t i = 0; i < schema.table.size(); ++i) {
    in_table.emplace(schema.table[i].name, static_cast<std::int64_t>(i));
  }
  std::vector<bool> found(schema.table.size(), false);
  for (std::int64_t i = 0; i < match.layout.columns; ++i) {
    const std::string& name = match.layout.names[i];
    if (name.empty() && nameless++ == nameless_label) {
      match.columns.push_back(-1);
      match.layout.label = i;
      continue;
    }
    auto place = in_table.lower_bound(name);
    if (place != in_table.end() && place->first != name) place = in_table.end();
    match.columns.push_back(place == in_table.end() ? -1 : place->second);
    if (place != in_table.end()) {
      found[place->second] = true;
      in_table.erase(place);
    } else if (!name.empty() && name == schema.label_name) {
      match.layout.label = i;
    } else {
      match.extra.push_back(name);
    }
  }
  if (match.layout.label < 0 && labels == Labels::kRequired) {
    ThrowNoLabel(head, match.layout, schema.label_name);
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] || schema.table[i].kind == ColumnKind::kLeftOut) continue;
    if (absent == AbsentColumns::kRefuse) {
      head.ThrowAt(head.first().begin,
                   fmt::format("there is no column {}, on which the model was trained; add it, or "
                               "fill it with --missing-columns fill",
                               Quote(schema.table[i].name)));
    }
    match.absent.push_back(static_cast<std::int64_t>(i));
  }
}

void MatchByPosition(const Head& head, const Schema& schema, Labels labels, CsvMatch& match) {
  const auto expected = static_cast<std::int64_t>(schema.table.size());
  const std::int64_t columns = match.layout.columns;
  if (columns != expected || labels == Labels::kRequired) {
    if (columns != expected + 1) {
      head.ThrowAt(
          head.first().begin,
          fmt::format("{} columns, but the model expects {} features{} a label; use a file with "
                      "the columns it was trained on",
                      columns, expected,
                      labels == Labels::kRequired ? " and" : ", with or without"));
    }
    // A name that this file lacks: the position is that of the training file.
    const auto label = ResolveLabel(schema.label_column, match.layout);
    if (!label) ThrowNoLabel(head, match.layout, schema.label_column);
    match.layout.label = *label;
  }
  std::int64_t next = 0;
  for (std::int64_t i = 0; i < columns; ++i) {
    match.columns.push_back(i == match.layout.label ? -1 : next++);
  }
}

}  // namespace

std::string_view ReadCsvHead(const TextSource& text, const std::string& source, Bytes& window) {
  for (std::size_t bytes = std::size_t{1} << 16; bytes <= kMostHeadBytes; bytes *= 4) {
    const std::string_view head = text.Read(0, bytes, window);
    if (head.size() == text.size()) return head;
    // A line that is cut would look like one that ends.
    const std::string_view whole = head.substr(0, head.rfind('\n') + 1);  // npos + 1 is 0
    if (SampleCsv(whole).records.size() >= 2) return whole;
  }
  throw UserError(fmt::format(
      "{}: its first two lines are longer than {} MB, so this is not a table; write one row "
      "per line",
      source, kMostHeadBytes >> 20));
}

CsvLayout FindCsvLayout(std::string_view head, const std::string& source, const std::string& label,
                        CsvForm form) {
  const Head read = ReadHead(head, source, form);
  CsvLayout layout = MakeLayout(read, HasHeader(read.sample, LabelByPlace(label, read)));
  const auto column = ResolveLabel(label, layout);
  if (!column) ThrowNoLabel(read, layout, label);
  layout.label = *column;
  return layout;
}

CsvMatch MatchCsv(std::string_view head, const std::string& source, const Schema& schema,
                  Labels labels, AbsentColumns absent, CsvForm form) {
  const Head read = ReadHead(head, source, form);
  const bool has_names = HasNames(schema);
  const bool has_header =
      (has_names && NamesColumnsOf(schema, read.first())) || HasHeader(read.sample, -1);
  CsvMatch match{.layout = MakeLayout(read, has_header), .columns = {}, .absent = {}, .extra = {}};
  if (has_names && has_header) {
    MatchByName(read, schema, labels, absent, match);
  } else {
    MatchByPosition(read, schema, labels, match);
  }
  return match;
}

}  // namespace hogbatch
