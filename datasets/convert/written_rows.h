// Rows of text files as they are written, to copy or convert them without changing their cells.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/dataset.h"
#include "datasets/text/text_source.h"

namespace hogbatch {

// The text is held in memory.
struct WrittenRows {
  FileFormat format = FileFormat::kCsv;
  bool is_json = false;                     // JSON lines
  char delimiter = ',';                     // CSV
  std::vector<std::string> names = {};      // of a CSV's columns; empty: it has no header
  std::string header = {};                  // the header as it is written, with its line end
  std::vector<std::string_view> rows = {};  // without their line ends
  std::string_view text = {};
  std::shared_ptr<const void> keeper = {};  // of the text
  std::string source = {};                  // names it in errors
};

// Of JSON lines it is that of a table, kCsv.
FileFormat FormatOfFiles(const std::string& data, const ReadOptions& options);

// Rows in the order of the file, as many as the readers find. UserError for IDX files, and for text
// that takes more than the memory limit.
WrittenRows ReadWrittenRows(const std::string& data, const ReadOptions& options);

// JSON lines as CSV text, of at most `max_bytes`.
std::string CsvOfJson(const WrittenRows& rows, std::size_t max_bytes);

// The fields of a CSV row.
std::vector<std::string> FieldsOf(const WrittenRows& rows, std::size_t row);

}  // namespace hogbatch
