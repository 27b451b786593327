// CSV text of numbers with a label column.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "datasets/readers/csv_layout.h"
#include "datasets/readers/parsed_file.h"
#include "datasets/schema.h"

namespace hogbatch {

// What a column of the file becomes.
struct CsvColumn {
  enum class Kind : std::uint8_t { kNumber, kLabel, kCategory };
  Kind kind = Kind::kNumber;
  std::int32_t feature = 0;          // kCategory: the first of its features
  std::vector<std::int64_t> values;  // kCategory
};

// Numbers keep their order; the features of categories come after them.
std::vector<CsvColumn> PlanColumns(const CsvLayout& layout,
                                   const std::vector<CategoricalColumn>& categorical);

// Features of rows with `file_columns` feature columns.
std::int64_t CountFeatures(std::int64_t file_columns,
                           const std::vector<CategoricalColumn>& categorical);

// Reads whole lines. Throws ParseFailure.
void ParseCsv(std::string_view text, char delimiter, const std::vector<CsvColumn>& columns,
              ParsedRows& out);

// Where the label of the `row`-th row begins in a text that ParseCsv accepts.
const char* FindCsvLabel(std::string_view text, const CsvLayout& layout, std::int64_t row);

}  // namespace hogbatch
