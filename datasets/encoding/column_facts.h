// What `data info` shows of a column.
#pragma once

#include "datasets/encoding/table_survey.h"
#include "datasets/table.h"

namespace hogbatch {

ColumnFacts FactsOf(const TableColumn& column, const ColumnSurvey& survey);

}  // namespace hogbatch
