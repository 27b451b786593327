#include "datasets/row_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "datasets/input_files.h"
#include "datasets/read.h"
#include "datasets/readers/csv_layout.h"
#include "datasets/readers/csv_reader.h"
#include "datasets/readers/format.h"
#include "datasets/text/joined_text.h"

namespace hogbatch {
namespace {

TextBlocks OpenBlocks(const std::vector<std::string>& files, const ReadOptions& options) {
  const std::size_t budget = MemoryBudget(options.memory_bytes);
  if (files.size() == 1) {
    // A pipe is opened once: its writer would not outlive a reader that goes away.
    Descriptor file(files.front());
    const std::string source = SourceName(files.front());
    if (KindOf(file, source) == FileKind::kPipe) {
      return TextBlocks(std::move(file), source, budget);
    }
  }
  return TextBlocks(OpenFiles(files, options.label, budget), NameOfFiles(files), budget);
}

bool IsBlankText(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

}  // namespace

RowBlocks::RowBlocks(const std::string& data, const Schema& schema, const ReadOptions& options,
                     Text text, std::size_t block_bytes, Labels labels)
    : schema_(schema),
      options_(options),
      text_(text),
      block_bytes_(block_bytes),
      labels_(labels),
      source_(NameOfFiles(InputFiles(data))),
      blocks_(OpenBlocks(InputFiles(data), options)) {}

void RowBlocks::LookAtFormat() {
  is_json_ = AreJsonLines(options_.format, blocks_.Head());
  if (!is_json_ && schema_.format == FileFormat::kCsv) blocks_.JoinQuotedLines();
}

void RowBlocks::LookAtTable(const TextBlock& block) {
  const CsvMatch match =
      MatchCsv(block.text, source_, schema_, labels_,
               options_.fills_columns ? AbsentColumns::kFill : AbsentColumns::kRefuse);
  plan_.delimiter = match.layout.delimiter;
  plan_.has_comments = match.layout.has_comments;
  above_rows_ = block.text.substr(0, match.layout.rows_at);
  has_names_ = !match.layout.names.empty();
}

TextInput RowBlocks::InputOf(const TextBlock& block) {
  std::vector<TextPart> parts;
  if (!is_first_ && !above_rows_.empty()) {
    parts.push_back({.text = ViewText(above_rows_), .source = source_});
  }
  parts.push_back(
      {.text = ViewText(block.text), .source = source_, .skip_lines = block.first_line - 1});
  TextInput input{.text = std::make_unique<JoinedText>(std::move(parts)), .source = source_};
  if (is_json_) {
    input.text =
        TableOfJsonLines(*input.text, source_, MemoryBudget(options_.memory_bytes), json_columns_);
    input.form = CsvForm::kHeaderAndCommas;
    input.format = FileFormat::kCsv;
  } else if (options_.format == WrittenFormat::kCsv || !is_first_) {
    input.format = schema_.format;  // the first block has shown that it is this one
  }
  return input;
}

void RowBlocks::KeepText(const TextBlock& block, RowBlock& rows) const {
  if (text_ == Text::kDropped) return;
  if (is_json_) {
    for (const std::string& line : SplitLines(block.text)) {
      if (!IsBlankText(line)) rows.rows.push_back(line);
    }
    return;
  }
  std::string_view text = block.text;
  if (is_first_) text.remove_prefix(above_rows_.size());
  for (const std::string_view record : CsvRecords(text, plan_)) rows.rows.emplace_back(record);
}

std::optional<RowBlock> RowBlocks::Next() {
  if (is_first_) LookAtFormat();
  while (const auto block = blocks_.Next(block_bytes_)) {
    if (IsBlankText(block->text)) continue;
    const bool is_table = schema_.format == FileFormat::kCsv && !is_json_;
    if (is_first_ && is_table) {
      LookAtTable(*block);
      if (block->text.size() == above_rows_.size()) {  // its rows are still to come
        is_first_ = false;
        continue;
      }
    }
    RowBlock rows;
    rows.data =
        ReadTextWithSchema(InputOf(*block), schema_, labels_, options_,
                           {.threads = options_.threads, .memory_bytes = options_.memory_bytes});
    if (!is_first_) rows.data.notes.clear();
    KeepText(*block, rows);
    is_first_ = false;
    return rows;
  }
  return std::nullopt;
}

}  // namespace hogbatch
