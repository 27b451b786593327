// Finds the layout of a CSV from its first lines: delimiter, number of columns, names, label
// column, and where the rows begin.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/dataset.h"
#include "datasets/readers/csv_sniffer.h"
#include "datasets/schema.h"
#include "datasets/text/text_source.h"

namespace hogbatch {

struct CsvLayout {
  char delimiter = ',';
  std::int64_t columns = 0;
  std::int64_t label = -1;              // which column; -1: there is none
  std::vector<std::string> names = {};  // of all columns, printable; empty: there is no header
  std::size_t rows_at = 0;              // where the rows begin in the text, after the header
  bool has_comments = false;            // lines that begin with # are not rows
};

// How the columns of a file are those of a model.
struct CsvMatch {
  CsvLayout layout;
  std::vector<std::int64_t> columns;  // of each column its number in Schema::table; -1: none
  std::vector<std::int64_t> absent;   // columns of the table that the file lacks
  std::vector<std::string> extra;     // names of columns that the table lacks
};

// The beginning of a text, with as many lines as a layout depends on. Throws UserError if they are
// too long for a table.
std::string_view ReadCsvHead(const TextSource& text, const std::string& source, Bytes& window);

// The layout of a file to train on; `label` is the value of --label. `head` is the beginning of its
// text, `source` names it in errors.
CsvLayout FindCsvLayout(std::string_view head, const std::string& source, const std::string& label,
                        CsvForm form = CsvForm::kUnknown);

// The layout of a file to use with a model. Columns are matched by name if both have names, and
// otherwise by position. A column that the file lacks is a UserError unless `absent` says that it
// is to be filled.
enum class AbsentColumns : std::uint8_t { kRefuse, kFill };
CsvMatch MatchCsv(std::string_view head, const std::string& source, const Schema& schema,
                  Labels labels, AbsentColumns absent = AbsentColumns::kRefuse,
                  CsvForm form = CsvForm::kUnknown);

}  // namespace hogbatch
