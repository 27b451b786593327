// What the columns of a table hold, counted over its rows.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "datasets/readers/parsed_file.h"

namespace hogbatch {

struct WordCount {
  std::int64_t rows = 0;
  std::int64_t train_rows = 0;
};

struct ColumnSurvey {
  // Cells of all rows.
  std::int64_t numbers = 0;
  std::int64_t words = 0;
  std::int64_t missing = 0;
  double min = 0;  // of the numbers
  double max = 0;
  bool counts_up = false;  // each number is one more than the one above it

  // Of the training rows.
  std::int64_t train_numbers = 0;
  std::int64_t train_missing = 0;
  double train_sum = 0;

  std::unordered_map<std::string, WordCount> different_words;
};

// `is_training` tells for each row whether something may be learnt from it.
std::vector<ColumnSurvey> SurveyTable(const ParsedFile& file, std::int64_t columns,
                                      std::span<const char> is_training, int threads);

// Columns that hold both numbers and words.
std::vector<std::int64_t> MixedColumns(const ParsedFile& file, std::int64_t columns);

// The first row with one of `words` in a column; -1: none.
std::int64_t FirstRowWith(const ParsedFile& file, std::int64_t column,
                          std::span<const std::string> words);

}  // namespace hogbatch
