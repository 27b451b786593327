// Decides what becomes of the columns of a table.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/encoding/table_survey.h"
#include "datasets/table.h"

namespace hogbatch {

// A column with more words than this has them hashed.
inline constexpr std::int64_t kMostCategories = 1000;

// Columns that the user named, as numbers from 0.
struct ColumnChoice {
  std::vector<std::int64_t> categorical = {};
  std::vector<std::int64_t> ignore = {};
  std::vector<std::int64_t> keep = {};
  std::optional<std::int64_t> split = {};   // of --split-by or --split-time
  std::optional<std::int64_t> weight = {};  // of --weight
};

// A column whose cells are neither all numbers nor words: which, and a cell that is at odds.
struct MixedColumn {
  std::int64_t column;
  std::vector<std::string> odd_words;
  std::string what;
};

struct TableToLearn {
  std::span<const std::string> names;  // of the columns; empty: there is no header
  std::span<const ColumnSurvey> surveys;
  std::int64_t train_rows = 0;
  char delimiter = ',';
};

// `hash_bits` is for columns with very many categories. Throws MixedColumn.
std::vector<TableColumn> LearnTable(const TableToLearn& table, const ColumnChoice& choice,
                                    int hash_bits);

// A category as it is compared: 1.0 and 1 are the same.
std::string CategoryName(std::string_view word);

// The columns that a list of names and numbers means. UserError, which names `option`, if there is
// no such column; `source` names the file.
std::vector<std::int64_t> FindColumns(std::span<const std::string> wanted,
                                      std::span<const std::string> names, std::int64_t columns,
                                      const std::string& source, const std::string& option);

}  // namespace hogbatch
