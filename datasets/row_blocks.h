// Rows of a file, or of a pipe as they arrive, for a model that is used on them: block by block, so
// that memory does not depend on how many there are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "datasets/dataset.h"
#include "datasets/open_input.h"
#include "datasets/readers/csv_reader.h"
#include "datasets/text/json_lines.h"
#include "datasets/text/text_blocks.h"

namespace hogbatch {

struct RowBlock {
  Dataset data;                   // rows in the order of the file
  std::vector<std::string> rows;  // as they are written, if they are kept
};

class RowBlocks {
 public:
  enum class Text : std::uint8_t { kDropped, kKept };
  // `data` as in InputFiles; no IDX file. Of the options those are used that ReadWithSchema uses.
  // Rows without a label are left out where labels are required.
  RowBlocks(const std::string& data, const Schema& schema, const ReadOptions& options, Text text,
            std::size_t block_bytes, Labels labels = Labels::kOptional);

  // None at the end. UserErrors as those of ReadWithSchema.
  std::optional<RowBlock> Next();

  // Valid after the first Next. The first line of a table, if it has names; with its line end.
  std::string header() const { return has_names_ ? above_rows_ : ""; }
  bool is_json() const { return is_json_; }
  char delimiter() const { return plan_.delimiter; }

 private:
  void LookAtFormat();
  void LookAtTable(const TextBlock& block);
  TextInput InputOf(const TextBlock& block);
  void KeepText(const TextBlock& block, RowBlock& rows) const;

  const Schema& schema_;
  ReadOptions options_;
  Text text_;
  std::size_t block_bytes_;
  Labels labels_;
  std::string source_;
  TextBlocks blocks_;
  bool is_json_ = false;
  bool is_first_ = true;
  CsvPlan plan_;            // of a CSV: its delimiter and comments
  std::string above_rows_;  // header, comments and the line "sep=;"
  bool has_names_ = false;
  JsonColumns json_columns_;
};

}  // namespace hogbatch
