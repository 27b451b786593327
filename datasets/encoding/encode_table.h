// Turns the cells of a table into features.
#pragma once

#include <vector>

#include "datasets/readers/parsed_file.h"
#include "datasets/table.h"

namespace hogbatch {

// Rows with the numbers and cells of columns become rows of features.
void EncodeTable(ParsedFile& file, const std::vector<TableColumn>& columns, int threads);

}  // namespace hogbatch
