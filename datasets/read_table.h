// Tables (CSV): which of their columns become features is learnt from a file, or known from a
// model.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "datasets/encoding/learn_table.h"
#include "datasets/encoding/split.h"
#include "datasets/parse_input.h"

namespace hogbatch {

// Columns that a user named, and the rows of the table as they were parsed with them.
struct ParsedTable {
  ParsedInput parsed;
  ColumnChoice choice;
  std::string detected = {};  // see TrainingData
};

// The column of --split-by or --split-time among those of the table; none: neither is given.
// UserError if there is no such column.
std::optional<std::int64_t> SplitColumn(const CsvLayout& layout, const ReadOptions& options,
                                        const std::string& source);

// The split of a table's rows by a column. UserError for a cell that cannot be used.
RowSplit SplitTable(const TextInput& input, const ParsedInput& parsed, std::int64_t column,
                    const ReadOptions& options, std::span<const std::int64_t> rows);

// The weights of a table's rows, as they are written in a column. UserError for a cell that is no
// weight.
std::vector<float> WeightsOf(const TextInput& input, const ParsedInput& parsed, std::int64_t column,
                             std::span<const std::int64_t> rows);

// Parses a file to train on; fills label_column, label_name and the names of the table's columns.
ParsedTable ParseTable(const TextInput& input, const ReadOptions& options,
                       const ParseSettings& settings, Schema& schema);

// Learns the columns from the training rows, which come first in `order`, and makes features of
// all rows. UserError if a column cannot be understood, or none is left.
void LearnAndEncode(const TextInput& input, ParsedTable& table, std::span<const std::int64_t> order,
                    const ReadOptions& options, TrainingData& result);

// Parses a file with the columns of the schema's table. EncodeTable makes features of its rows.
struct KnownTable {
  ParsedInput parsed;
  std::optional<std::int64_t> split = {};   // see SplitColumn
  std::optional<std::int64_t> weight = {};  // of --weight
};
KnownTable ParseKnownTable(const TextInput& input, const Schema& schema, Labels labels,
                           const ReadOptions& options, const ParseSettings& settings,
                           std::vector<std::string>& notes);

}  // namespace hogbatch
