// Finds the layout of a CSV from its first lines: delimiter, number of columns, names, label
// column, and where the rows begin.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/dataset.h"
#include "datasets/readers/text_source.h"
#include "datasets/schema.h"

namespace hogbatch {

struct CsvLayout {
  char delimiter = ',';
  std::int64_t columns = 0;
  std::int64_t label = -1;         // which column; -1: there is none
  std::vector<std::string> names;  // of all columns, printable; empty: there is no header
  std::size_t rows_at = 0;         // where the rows begin in the text, after the header
};

// The beginning of a text with its first two lines, which is all that a layout depends on. Throws
// UserError if they are too long for a table.
std::string_view ReadCsvHead(const TextSource& text, const std::string& source, Bytes& window);

// The layout of a file to train on; `label` is the value of --label. `head` is the beginning of its
// text, `source` names it in errors.
CsvLayout FindCsvLayout(std::string_view head, const std::string& source, const std::string& label);

// The layout of a file that must have the schema's columns. If the file has a header and the schema
// has names, they must agree; otherwise columns are matched by position alone.
CsvLayout FindCsvLayout(std::string_view head, const std::string& source, const Schema& schema,
                        Labels labels);

// The fields of one line (without its line end), trimmed and unquoted.
std::vector<std::string> SplitCsv(std::string_view line, char delimiter);

// Where field `index` of a line begins.
const char* FindCsvField(std::string_view line, char delimiter, std::int64_t index);

}  // namespace hogbatch
