// The rows of CSV text: numbers, words, missing cells and labels.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "datasets/readers/csv_layout.h"
#include "datasets/readers/parsed_file.h"

namespace hogbatch {

// What a column of the file is read as.
struct CsvColumn {
  enum class Kind : std::uint8_t {
    kNumber,  // numbers; what is none is a word
    kWord,    // words only: codes keep their digits
    kLabel,
    kSkipped,
  };
  Kind kind = Kind::kNumber;
  std::int32_t column = 0;  // its number in the rows that are made
};

struct CsvPlan {
  char delimiter = ',';
  bool has_comments = false;
  std::vector<CsvColumn> columns = {};
  std::vector<std::int32_t> absent = {};  // columns that are missing in every row
  bool labels_are_words = false;          // 1.234 is no number, since it may mean 1234
};

// Reads whole records. A label that is missing leaves its row without one. Throws ParseFailure.
void ParseCsv(std::string_view text, const CsvPlan& plan, ParsedRows& out);

// The records as they are written, without their line ends, of a text that ParseCsv accepts.
std::vector<std::string_view> CsvRecords(std::string_view text, const CsvPlan& plan);

// Where column `column` of the `row`-th row begins in a text that ParseCsv accepts.
const char* FindCsvCell(std::string_view text, const CsvPlan& plan, std::int64_t row,
                        std::int64_t column);

}  // namespace hogbatch
