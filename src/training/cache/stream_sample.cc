#include "training/cache/stream_sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/error.h"
#include "datasets/input_files.h"
#include "datasets/read.h"
#include "datasets/readers/format.h"
#include "datasets/readers/idx_reader.h"
#include "datasets/readers/libsvm_reader.h"
#include "datasets/readers/numbers.h"
#include "datasets/text/joined_text.h"
#include "datasets/text/json_lines.h"
#include "datasets/text/text_blocks.h"

namespace hogbatch {
namespace {

// Pieces of a text, evenly spread: every one, then every second, every fourth … of them.
class Pieces {
 public:
  explicit Pieces(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  void Add(TextBlock piece) {
    const std::size_t index = seen_++;
    if (index % stride_ != 0) return;
    bytes_ += piece.text.size();
    kept_.push_back(std::move(piece));
    while (bytes_ > most_bytes_ && kept_.size() > 1) Thin();
  }
  bool is_whole() const { return stride_ == 1; }
  std::vector<TextBlock>& kept() { return kept_; }

 private:
  // The first piece, which has the header, stays.
  void Thin() {
    stride_ *= 2;
    std::vector<TextBlock> left;
    bytes_ = 0;
    for (std::size_t i = 0; i < kept_.size(); i += 2) {
      bytes_ += kept_[i].text.size();
      left.push_back(std::move(kept_[i]));
    }
    kept_ = std::move(left);
  }

  std::size_t most_bytes_;
  std::size_t stride_ = 1;
  std::size_t seen_ = 0;
  std::size_t bytes_ = 0;
  std::vector<TextBlock> kept_;
};

FileFormat FormatOfText(WrittenFormat asked, std::string_view head, const std::string& source) {
  const std::optional<FileFormat> named = FileFormatOf(asked);
  if (named == FileFormat::kIdx || (!named && IsIdx(head.substr(0, 4)))) {
    throw UserError(
        fmt::format("{}: --stream reads tables, LIBSVM files and JSON lines, and this "
                    "is an IDX file; leave it out",
                    source));
  }
  return named ? *named : DetectFormat(head.substr(0, head.rfind('\n')));
}

// The largest index of a LIBSVM text. Mistakes in it are found when its rows are read.
std::int64_t LargestIndex(std::string_view text) {
  ParsedRows rows;
  try {
    ParseLibsvm(text, kLargestIndex, Labels::kRequired, rows);
  } catch (const ParseFailure&) {
  }
  return rows.file_columns;
}

TextInput InputOf(std::vector<TextBlock>& pieces, const std::string& source) {
  std::vector<TextPart> parts;
  for (const TextBlock& piece : pieces) {
    parts.push_back(
        {.text = ViewText(piece.text), .source = source, .skip_lines = piece.first_line - 1});
  }
  return {.text = std::make_unique<JoinedText>(std::move(parts)), .source = source};
}

// Features beyond those of the sample are not scaled.
void WidenTo(std::int64_t file_columns, Schema& schema) {
  if (file_columns <= schema.file_columns) return;
  schema.file_columns = file_columns;
  if (!schema.used_columns.empty()) return;  // those of the sample
  schema.features = file_columns;
  const std::size_t features = file_columns;
  if (!schema.shift.empty()) schema.shift.resize(features, 0);
  if (!schema.scale.empty()) schema.scale.resize(features, 1);
}

}  // namespace

LearntSample LearnFromSample(const std::string& data, const ReadOptions& options,
                             std::size_t most_bytes) {
  const std::vector<std::string> files = InputFiles(data);
  const std::string source = NameOfFiles(files);
  const std::size_t budget = MemoryBudget(options.memory_bytes);
  TextBlocks blocks(OpenFiles(files, options.label, budget), source, budget);
  const bool is_json = AreJsonLines(options.format, blocks.Head());
  const FileFormat format =
      is_json ? FileFormat::kCsv : FormatOfText(options.format, blocks.Head(), source);
  if (format == FileFormat::kCsv && !is_json) blocks.JoinQuotedLines();
  // Small ones, so that they come from many places.
  const std::size_t piece = std::clamp<std::size_t>(most_bytes / 64, 4096, std::size_t{1} << 20);
  Pieces pieces(most_bytes);
  std::int64_t file_columns = 0;
  while (auto block = blocks.Next(piece)) {
    if (format == FileFormat::kLibsvm) {
      file_columns = std::max(file_columns, LargestIndex(block->text));
    }
    pieces.Add(*std::move(block));
  }
  TextInput input = InputOf(pieces.kept(), source);
  input.format = format;
  JsonColumns columns;
  if (is_json) {
    input.text = TableOfJsonLines(*input.text, source, budget, columns);
    input.form = CsvForm::kHeaderAndCommas;
  }
  ReadOptions all = options;
  all.valid_fraction = 0;
  LearntSample learnt{.sample = ReadTrainingText(
                          std::move(input), all,
                          {.threads = options.threads, .memory_bytes = options.memory_bytes}),
                      .is_whole = pieces.is_whole()};
  WidenTo(file_columns, learnt.sample.schema);
  return learnt;
}

}  // namespace hogbatch
