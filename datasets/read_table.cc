#include "datasets/read_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "datasets/encoding/column_facts.h"
#include "datasets/encoding/encode_table.h"
#include "datasets/encoding/table_notes.h"
#include "datasets/encoding/table_survey.h"
#include "datasets/readers/csv_fields.h"
#include "datasets/readers/csv_layout.h"
#include "datasets/readers/missing.h"
#include "datasets/readers/numbers.h"
#include "datasets/readers/written_date.h"
#include "datasets/readers/written_number.h"

namespace hogbatch {
namespace {

// Columns of the file without the label become those of the table.
std::int64_t InTable(const CsvLayout& layout, std::int64_t column) {
  return column > layout.label ? column - 1 : column;
}

// The option that splits rows by a column, and the column; empty: there is none.
std::pair<std::string, std::string> SplitOption(const ReadOptions& options) {
  if (!options.split_by.empty()) return {"split-by", options.split_by};
  return {"split-time", options.split_time};
}

std::vector<std::int64_t> ChosenColumns(const std::vector<std::string>& wanted,
                                        const CsvLayout& layout, const std::string& source,
                                        const std::string& option) {
  std::vector<std::int64_t> chosen;
  for (const std::int64_t column :
       FindColumns(wanted, layout.names, layout.columns, source, option)) {
    if (column == layout.label) {
      throw UserError(
          fmt::format("{}: --{} names the label column; choose another label with "
                      "--label, or leave it out",
                      source, option));
    }
    chosen.push_back(InTable(layout, column));
  }
  return chosen;
}

CsvPlan PlanToLearn(const CsvLayout& layout) {
  CsvPlan plan{.delimiter = layout.delimiter, .has_comments = layout.has_comments, .columns = {}};
  for (std::int64_t i = 0; i < layout.columns; ++i) {
    if (i == layout.label) {
      plan.columns.push_back({.kind = CsvColumn::Kind::kLabel});
    } else {
      plan.columns.push_back({.column = static_cast<std::int32_t>(InTable(layout, i))});
    }
  }
  return plan;
}

void ReadAsWords(std::span<const std::int64_t> columns, CsvPlan& plan) {
  for (CsvColumn& column : plan.columns) {
    if (column.kind == CsvColumn::Kind::kNumber &&
        std::ranges::find(columns, column.column) != columns.end()) {
      column.kind = CsvColumn::Kind::kWord;
    }
  }
}

std::vector<std::string> TableNames(const CsvLayout& layout) {
  std::vector<std::string> names = layout.names;
  if (!names.empty()) names.erase(names.begin() + layout.label);
  return names;
}

CsvColumn::Kind KindOf(const TableColumn& column) {
  if (column.kind == ColumnKind::kLeftOut) return CsvColumn::Kind::kSkipped;
  const bool is_plain = column.kind == ColumnKind::kNumber && column.style == NumberStyle::kPoint;
  return is_plain ? CsvColumn::Kind::kNumber : CsvColumn::Kind::kWord;
}

CsvPlan PlanToUse(const CsvMatch& match, const Schema& schema) {
  CsvPlan plan{.delimiter = match.layout.delimiter,
               .has_comments = match.layout.has_comments,
               .columns = {}};
  for (std::size_t i = 0; i < match.columns.size(); ++i) {
    const std::int64_t column = match.columns[i];
    if (static_cast<std::int64_t>(i) == match.layout.label) {
      plan.columns.push_back({.kind = CsvColumn::Kind::kLabel});
    } else if (column < 0) {
      plan.columns.push_back({.kind = CsvColumn::Kind::kSkipped, .column = -1});
    } else {
      plan.columns.push_back(
          {.kind = KindOf(schema.table[column]), .column = static_cast<std::int32_t>(column)});
    }
  }
  for (const std::int64_t column : match.absent) {
    plan.absent.push_back(static_cast<std::int32_t>(column));
  }
  return plan;
}

// The column of an option among those of a model's table, which may have left it out. Its cells are
// read as words. None: the option is not given.
std::optional<std::int64_t> KnownColumn(const CsvMatch& match, const std::string& option,
                                        const std::string& name, const std::string& source,
                                        CsvPlan& plan) {
  if (name.empty()) return std::nullopt;
  const std::int64_t place =
      FindColumns(std::span(&name, 1), match.layout.names, match.layout.columns, source, option)
          .front();
  const std::int64_t column = match.columns[place];
  if (column < 0) {
    throw UserError(
        fmt::format("{}: --{} {}: the model does not know this column; name one that it was "
                    "trained with",
                    source, option, name));
  }
  plan.columns[place].kind = CsvColumn::Kind::kWord;
  return column;
}

// The word of a column in a row; empty: the cell is missing.
std::string_view WordIn(const ParsedRow& row, std::int64_t column) {
  const auto cell = std::ranges::find(row.cells(), column, &Cell::column);
  if (cell == row.cells().end() || cell->word == Cell::kMissing) return {};
  return row.chunk->column_words.at(cell->column)[cell->word];
}

std::vector<std::int64_t> GroupsOf(const ParsedFile& file, std::int64_t column,
                                   std::span<const std::int64_t> rows) {
  std::unordered_map<std::string_view, std::int64_t> numbers;
  std::vector<std::int64_t> groups;
  for (const std::int64_t row : rows) {
    const auto next = std::ssize(numbers);
    groups.push_back(numbers.emplace(WordIn(file.row(row), column), next).first->second);
  }
  return groups;
}

std::optional<double> TimeOf(std::string_view word) {
  if (const auto number = FiniteNumber(word)) return number;
  for (const DateOrder order : {DateOrder::kMonthFirst, DateOrder::kDayFirst}) {
    if (const auto date = ParseWrittenDate(word, order)) return date->days;
  }
  return std::nullopt;
}

std::string SentenceFor(const std::string& word, const std::string& what) {
  return LooksNumeric(word) ? DescribeBadNumber(word) : fmt::format("{} {}", Quote(word), what);
}

[[noreturn]] void ThrowAtWords(const TextInput& input, const ParsedInput& parsed,
                               std::int64_t column, std::span<const std::string> words,
                               const std::string& what) {
  const std::int64_t row = FirstRowWith(parsed.file, column, words);
  const ParsedRow cells = parsed.file.row(row);
  const auto cell = std::ranges::find(cells.cells(), column, &Cell::column);
  const auto& known = cells.chunk->column_words.at(static_cast<std::int32_t>(column));
  ThrowAtCell(input, parsed, row, column, SentenceFor(known[cell->word], what));
}

std::string DetectedText(const CsvLayout& layout, CsvForm form) {
  if (form == CsvForm::kHeaderAndCommas) return "JSON lines";
  std::string text = "CSV, ";
  switch (layout.delimiter) {
    case ',':
      text += "commas";
      break;
    case ';':
      text += "semicolons";
      break;
    case '\t':
      text += "tabs";
      break;
    case kBlanks:
      text += "blanks";
      break;
    default:
      text += layout.delimiter;
  }
  text += layout.names.empty() ? " between columns, no header" : " between columns, a header";
  if (layout.has_comments) text += ", comments";
  return text;
}

// A column of numbers has words that are none only by mistake.
void CheckNumbers(const TextInput& input, const ParsedInput& parsed, const Schema& schema) {
  for (const ParsedRows& chunk : parsed.file.chunks()) {
    for (const auto& [column, words] : chunk.column_words) {
      const TableColumn& table = schema.table[column];
      if (table.kind != ColumnKind::kNumber) continue;
      for (const std::string& word : words) {
        const auto known = std::ranges::find(table.missing_words, word);
        if (known != table.missing_words.end() || IsMissingAmongNumbers(word) ||
            ParseWrittenNumber(word, table.style)) {
          continue;
        }
        ThrowAtWords(input, parsed, column, std::span(&word, 1),
                     "is not a number, and the column was one of numbers when the model was "
                     "trained; correct it");
      }
    }
  }
}

}  // namespace

std::optional<std::int64_t> SplitColumn(const CsvLayout& layout, const ReadOptions& options,
                                        const std::string& source) {
  const auto [option, name] = SplitOption(options);
  if (name.empty()) return std::nullopt;
  return ChosenColumns({name}, layout, source, option).front();
}

RowSplit SplitTable(const TextInput& input, const ParsedInput& parsed, std::int64_t column,
                    const ReadOptions& options, std::span<const std::int64_t> rows) {
  const SplitRequest request{.rows = rows,
                             .valid_fraction = options.valid_fraction,
                             .fold = options.fold,
                             .seed = options.seed};
  if (!options.split_by.empty()) {
    return SplitByGroup(request, GroupsOf(parsed.file, column, rows));
  }
  std::vector<double> times;
  for (const std::int64_t row : rows) {
    const std::string_view word = WordIn(parsed.file.row(row), column);
    const auto time = TimeOf(word);
    if (!time) {
      ThrowAtCell(input, parsed, row, column,
                  fmt::format("{} is neither a date nor a number, as --split-time needs; correct "
                              "it, or remove the row",
                              Quote(word)));
    }
    times.push_back(*time);
  }
  return SplitByTime(request, times);
}

std::vector<float> WeightsOf(const TextInput& input, const ParsedInput& parsed, std::int64_t column,
                             std::span<const std::int64_t> rows) {
  std::vector<float> weights;
  weights.reserve(rows.size());
  for (const std::int64_t row : rows) {
    const std::string_view word = WordIn(parsed.file.row(row), column);
    const auto number = ParseWrittenNumber(word, NumberStyle::kPoint);
    if (word.empty() || !number || *number < 0 || *number > kLargestTarget) {
      ThrowAtCell(input, parsed, row, column,
                  fmt::format("{} is no weight; write a number of 0 or more, or remove the row",
                              word.empty() ? "an empty cell" : Quote(word)));
    }
    weights.push_back(static_cast<float>(*number));
  }
  return weights;
}

ParsedTable ParseTable(const TextInput& input, const ReadOptions& options,
                       const ParseSettings& settings, Schema& schema) {
  Bytes window;
  const CsvLayout layout = FindCsvLayout(ReadCsvHead(*input.text, input.source, window),
                                         input.source, options.label, input.form);
  std::vector<std::string> categorical = options.categorical;
  if (!input.categorical.empty()) {
    if (layout.label != layout.columns - 1) {
      throw UserError(fmt::format("{}: its label is its last column; leave out --label {}",
                                  input.source, options.label));
    }
    categorical = input.categorical;
  }
  schema.label_column = options.label == kAutoLabel ? kLastLabel : options.label;
  if (!layout.names.empty()) {
    schema.label_name = layout.names[layout.label];
  }
  const std::vector<std::string> names = TableNames(layout);
  for (std::int64_t i = 0; i + 1 < layout.columns; ++i) {
    schema.table.push_back({.name = names.empty() ? "" : names[i]});
  }
  ColumnChoice choice{
      .categorical = ChosenColumns(categorical, layout, input.source, "categorical"),
      .ignore = ChosenColumns(options.ignore, layout, input.source, "ignore"),
      .keep = ChosenColumns(options.keep, layout, input.source, "keep")};
  choice.split = SplitColumn(layout, options, input.source);
  if (!options.weight.empty()) {
    choice.weight = ChosenColumns({options.weight}, layout, input.source, "weight").front();
  }
  CsvPlan plan = PlanToLearn(layout);
  ReadAsWords(choice.categorical, plan);
  for (const auto& column : {choice.split, choice.weight}) {
    if (column) ReadAsWords(std::span(&*column, 1), plan);
  }
  ParsedInput parsed = ParseCsvInput(input, layout.rows_at, plan, settings);
  // Whether a word means the whole column are words shows only at the end.
  const auto mixed = MixedColumns(parsed.file, layout.columns - 1);
  schema.label_style = StyleOfLabels(parsed.file);
  plan.labels_are_words = schema.label_style == NumberStyle::kComma;
  if (!mixed.empty() || plan.labels_are_words) {
    ReadAsWords(mixed, plan);
    parsed = ParseCsvInput(input, layout.rows_at, std::move(plan), settings);
  }
  if (schema.label_style) ReadWrittenLabels(parsed.file, *schema.label_style);
  return {.parsed = std::move(parsed),
          .choice = std::move(choice),
          .detected = DetectedText(layout, input.form)};
}

void LearnAndEncode(const TextInput& input, ParsedTable& table, std::span<const std::int64_t> order,
                    const ReadOptions& options, TrainingData& result) {
  ParsedFile& file = table.parsed.file;
  Schema& schema = result.schema;
  const std::int64_t train_rows = result.train_rows;
  std::vector<char> is_training(file.rows());
  for (const std::int64_t row : order.first(train_rows)) {
    is_training[row] = 1;
  }
  std::vector<std::string> names;
  for (const TableColumn& column : schema.table) names.push_back(column.name);
  const auto surveys = SurveyTable(file, std::ssize(schema.table), is_training, options.threads);
  try {
    schema.table = LearnTable({.names = names,
                               .surveys = surveys,
                               .train_rows = train_rows,
                               .delimiter = table.parsed.plan.delimiter},
                              table.choice, options.hash_bits);
  } catch (const MixedColumn& mixed) {
    ThrowAtWords(input, table.parsed, mixed.column, mixed.odd_words, mixed.what);
  }
  schema.file_columns = std::ssize(schema.table);
  schema.features = AssignFeatures(schema.table);
  if (schema.features == 0) {
    throw UserError(fmt::format("{}: no column is left to learn from: {}; --keep takes a column in",
                                input.source, LeftOutText(schema.table)));
  }
  if (file.has_older_text()) {
    result.data.notes.emplace_back(
        "text      some of it is not UTF-8 and was read as Windows-1252; if that is wrong, convert "
        "the file with iconv");
  }
  std::ranges::move(TableNotes(schema.table, surveys), std::back_inserter(result.data.notes));
  for (std::size_t i = 0; i < surveys.size(); ++i) {
    result.columns.push_back(FactsOf(schema.table[i], surveys[i]));
  }
  result.detected = table.detected;
  EncodeTable(file, schema.table, options.threads);
}

KnownTable ParseKnownTable(const TextInput& input, const Schema& schema, Labels labels,
                           const ReadOptions& options, const ParseSettings& settings,
                           std::vector<std::string>& notes) {
  Bytes window;
  const CsvMatch match =
      MatchCsv(ReadCsvHead(*input.text, input.source, window), input.source, schema, labels,
               options.fills_columns ? AbsentColumns::kFill : AbsentColumns::kRefuse, input.form);
  if (!match.extra.empty()) {
    notes.push_back(fmt::format("{}: columns that the model does not know are not used: {}",
                                input.source, fmt::join(match.extra, ", ")));
  }
  CsvPlan plan = PlanToUse(match, schema);
  plan.labels_are_words = schema.label_style == NumberStyle::kComma;
  const auto [split_option, split_name] = SplitOption(options);
  const auto split = KnownColumn(match, split_option, split_name, input.source, plan);
  const auto weight = KnownColumn(match, "weight", options.weight, input.source, plan);
  KnownTable table{.parsed = ParseCsvInput(input, match.layout.rows_at, std::move(plan), settings),
                   .split = split,
                   .weight = weight};
  CheckNumbers(input, table.parsed, schema);
  if (schema.label_style) ReadWrittenLabels(table.parsed.file, *schema.label_style);
  return table;
}

}  // namespace hogbatch
