// What the first lines of a CSV tell: the delimiter, the number of columns, which one is the
// label, and where the rows begin.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/dataset.h"
#include "datasets/schema.h"

namespace hogbatch {

struct CsvLayout {
  char delimiter = ',';
  std::int64_t columns = 0;
  std::int64_t label = -1;  // which column; -1: there is none
  std::string_view rows;    // the text after the header
};

// The layout of a file to learn from; `label` as --label has it. `source` names it in errors.
CsvLayout FindCsvLayout(std::string_view text, const std::string& source, const std::string& label);

// The layout of a file that must have the schema's columns.
CsvLayout FindCsvLayout(std::string_view text, const std::string& source, const Schema& schema,
                        Labels labels);

// The fields of one line without its line end; blanks around and quotes are taken off.
std::vector<std::string> SplitCsv(std::string_view line, char delimiter);

// Where field `index` of a line begins.
const char* FindCsvField(std::string_view line, char delimiter, std::int64_t index);

}  // namespace hogbatch
