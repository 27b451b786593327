#include "datasets/convert/written_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "datasets/builtin.h"
#include "datasets/input_files.h"
#include "datasets/open_input.h"
#include "datasets/readers/csv_fields.h"
#include "datasets/readers/csv_layout.h"
#include "datasets/readers/csv_reader.h"
#include "datasets/readers/numbers.h"
#include "datasets/text/json_lines.h"

namespace hogbatch {
namespace {

// All of a text, in memory.
struct WholeText {
  std::unique_ptr<TextSource> source;
  Bytes window;
  std::string_view text;
};

std::shared_ptr<const WholeText> ReadWhole(std::unique_ptr<TextSource> source,
                                           const std::string& name, std::size_t max_bytes) {
  if (source->size() > max_bytes) {
    throw UserError(fmt::format(
        "{}: its rows are copied in memory, and take more than {} MB, the limit for one data set; "
        "raise it with --memory-limit",
        name, max_bytes >> 20));
  }
  const auto whole = std::make_shared<WholeText>();
  whole->source = std::move(source);
  whole->text = whole->source->Read(0, whole->source->size(), whole->window);
  return whole;
}

// Lines that are neither blank nor comments.
std::vector<std::string_view> Lines(std::string_view text, bool has_comments) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    const auto word = std::ranges::find_if_not(line, IsBlank);
    if (word != line.end() && !(has_comments && *word == '#')) lines.push_back(line);
    at = end + 1;
  }
  return lines;
}

}  // namespace

FileFormat FormatOfFiles(const std::string& data, const ReadOptions& options) {
  ReadOptions without_labels = options;
  without_labels.labels.clear();
  return FormatOf(OpenInput(data, without_labels, Labels::kOptional));
}

WrittenRows ReadWrittenRows(const std::string& data, const ReadOptions& options) {
  const std::size_t budget = MemoryBudget(options.memory_bytes);
  std::unique_ptr<TextSource> source =
      data.empty() ? OpenBytes(PackedBuiltin(), std::string(kBuiltinSource), budget)
                   : OpenFiles(InputFiles(data), options.label, budget);
  const std::string name =
      data.empty() ? std::string(kBuiltinSource) : NameOfFiles(InputFiles(data));
  const auto whole = ReadWhole(std::move(source), name, budget);
  const std::string_view text = whole->text;
  WrittenRows rows{.text = text, .keeper = whole, .source = name};
  rows.is_json = AreJsonLines(options.format, text);
  if (rows.is_json) {
    rows.rows = Lines(text, /*has_comments=*/false);
    return rows;
  }
  TextInput input{.text = ViewText(text), .source = name};
  rows.format = FileFormatOf(options.format).value_or(FormatOf(input));
  if (rows.format == FileFormat::kIdx) {
    throw UserError(
        fmt::format("{}: an IDX file has no lines of text to copy; convert it to CSV "
                    "or LIBSVM first",
                    name));
  }
  if (rows.format == FileFormat::kLibsvm) {
    rows.rows = Lines(text, /*has_comments=*/true);
    return rows;
  }
  const CsvLayout layout = FindCsvLayout(text, name, options.label);
  rows.delimiter = layout.delimiter;
  rows.names = layout.names;
  if (!layout.names.empty()) rows.header = text.substr(0, layout.rows_at);
  rows.rows = CsvRecords(text.substr(layout.rows_at),
                         {.delimiter = layout.delimiter, .has_comments = layout.has_comments});
  return rows;
}

std::string CsvOfJson(const WrittenRows& rows, std::size_t max_bytes) {
  JsonColumns columns;
  const auto table = TableOfJsonLines(*ViewText(rows.text), rows.source, max_bytes, columns);
  Bytes window;
  return std::string(table->Read(0, table->size(), window));
}

std::vector<std::string> FieldsOf(const WrittenRows& rows, std::size_t row) {
  const std::string_view text = rows.rows[row];
  constexpr std::size_t kAll = std::size_t{1} << 20;
  return ReadCsvRecord(text.data(), text.data() + text.size(), rows.delimiter, kAll).fields;
}

}  // namespace hogbatch
