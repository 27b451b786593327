#include "datasets/parse_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/error.h"
#include "datasets/readers/libsvm_reader.h"

namespace hogbatch {
namespace {

ParsedFile ParseText(const TextInput& input, std::size_t rows_at, ParseSettings settings,
                     const ChunkParser& parse) {
  // A table made of JSON lines may be far larger than they are.
  const bool is_made = input.form == CsvForm::kHeaderAndCommas;
  if (is_made) settings.taken_bytes = input.text->held_bytes();
  try {
    ParsedFile file = ParseInChunks(*input.text, rows_at, input.source, settings, parse);
    if (file.rows() == 0) {
      throw UserError(
          fmt::format("{}: the file has no rows; use one with rows of data", input.source));
    }
    if (file.rows() > std::numeric_limits<std::int32_t>::max()) {
      throw UserError(
          fmt::format("{}: the file has more than 2^31 rows; use part of it", input.source));
    }
    return file;
  } catch (const PlacedFailure& failure) {
    ThrowAt(input.source, *input.text, failure.at, failure.what);
  }
}

// The lines of the chunk that a row is in.
std::string_view TextOf(const TextInput& input, const ParsedRow& row, Bytes& window) {
  return input.text->Read(row.chunk->text_at, row.chunk->text_bytes, window);
}

// Where a column of the rows is in the file.
std::int64_t PlaceOf(const CsvPlan& plan, CsvColumn::Kind kind, std::int64_t column) {
  const auto found = std::ranges::find_if(plan.columns, [&](const CsvColumn& one) {
    const bool is_label = one.kind == CsvColumn::Kind::kLabel;
    return kind == CsvColumn::Kind::kLabel ? is_label : !is_label && one.column == column;
  });
  return found - plan.columns.begin();
}

}  // namespace

ParsedInput ParseLibsvmInput(const TextInput& input, std::int64_t known_columns, Labels labels,
                             const ParseSettings& settings) {
  return {.format = FileFormat::kLibsvm,
          .file = ParseText(input, 0, settings, [=](std::string_view chunk, ParsedRows& out) {
            ParseLibsvm(chunk, known_columns, labels, out);
          })};
}

ParsedInput ParseCsvInput(const TextInput& input, std::size_t rows_at, CsvPlan plan,
                          const ParseSettings& settings) {
  ParsedFile file =
      ParseText(input, rows_at, settings,
                [&](std::string_view chunk, ParsedRows& out) { ParseCsv(chunk, plan, out); });
  return {.format = FileFormat::kCsv, .file = std::move(file), .plan = std::move(plan)};
}

ParsedInput ParseIdxInput(const TextInput& input, const ParseSettings& settings) {
  const IdxArray rows = OpenIdx(*input.text, input.source);
  std::optional<IdxArray> labels;
  if (input.labels) labels = OpenIdx(*input.labels, input.label_source);
  ParsedFile file = ParseIdx(rows, labels, settings);
  return {.format = FileFormat::kIdx,
          .file = std::move(file),
          .labels = std::move(labels),
          .images = rows.dimensions > 2};
}

void ThrowAtLabel(const TextInput& input, const ParsedInput& parsed, const LabelProblem& problem) {
  if (parsed.labels) ThrowAtIdxLabel(*parsed.labels, problem.row, problem.what);
  if (parsed.format == FileFormat::kIdx) {
    throw UserError(fmt::format("{}: {}", input.source, problem.what));
  }
  const ParsedRow row = parsed.file.row(problem.row);
  Bytes window;
  const std::string_view text = TextOf(input, row, window);
  const char* where = parsed.format == FileFormat::kLibsvm
                          ? FindLibsvmLabel(text, row.index, problem.label)
                          : FindCsvCell(text, parsed.plan, row.index,
                                        PlaceOf(parsed.plan, CsvColumn::Kind::kLabel, 0));
  ThrowAt(input.source, *input.text, row.chunk->text_at + (where - text.data()), problem.what);
}

void ThrowAtCell(const TextInput& input, const ParsedInput& parsed, std::int64_t index,
                 std::int64_t column, const std::string& what) {
  const ParsedRow row = parsed.file.row(index);
  Bytes window;
  const std::string_view text = TextOf(input, row, window);
  const char* where = FindCsvCell(text, parsed.plan, row.index,
                                  PlaceOf(parsed.plan, CsvColumn::Kind::kNumber, column));
  ThrowAt(input.source, *input.text, row.chunk->text_at + (where - text.data()), what);
}

}  // namespace hogbatch
