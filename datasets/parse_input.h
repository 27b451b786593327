// Parses the text of a data set into rows, by its format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "datasets/encoding/labels.h"
#include "datasets/open_input.h"
#include "datasets/readers/csv_reader.h"
#include "datasets/readers/idx_reader.h"
#include "datasets/readers/parsed_file.h"

namespace hogbatch {

// Parsed rows, and what is needed to find the line of a row again.
struct ParsedInput {
  FileFormat format;
  ParsedFile file;
  CsvPlan plan = {};                    // of a CSV
  std::optional<IdxArray> labels = {};  // of an IDX file
  bool images = false;                  // rows of an IDX file that have more than one dimension
};

// Features beyond `known_columns` are errors.
ParsedInput ParseLibsvmInput(const TextInput& input, std::int64_t known_columns, Labels labels,
                             const ParseSettings& settings);
// The rows from byte `rows_at` on.
ParsedInput ParseCsvInput(const TextInput& input, std::size_t rows_at, CsvPlan plan,
                          const ParseSettings& settings);
ParsedInput ParseIdxInput(const TextInput& input, const ParseSettings& settings);

// UserErrors with file:line:column.
[[noreturn]] void ThrowAtLabel(const TextInput& input, const ParsedInput& parsed,
                               const LabelProblem& problem);
// At a column of the rows of a CSV.
[[noreturn]] void ThrowAtCell(const TextInput& input, const ParsedInput& parsed, std::int64_t row,
                              std::int64_t column, const std::string& what);

}  // namespace hogbatch
