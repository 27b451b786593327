// What was understood of a table, in sentences that a person can check.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "datasets/encoding/table_survey.h"
#include "datasets/table.h"

namespace hogbatch {

// "8 numbers, 6 columns of words (102 categories)", what was left out and what was filled.
std::vector<std::string> TableNotes(const std::vector<TableColumn>& columns,
                                    std::span<const ColumnSurvey> surveys);

// "id (it numbers the rows), country (it is the same in all rows)".
std::string LeftOutText(const std::vector<TableColumn>& columns);

}  // namespace hogbatch
