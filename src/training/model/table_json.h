// The columns of a table as JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "datasets/table.h"

namespace hogbatch {

// Fields that have their default are left out: a table may have a million columns.
nlohmann::ordered_json TableToJson(const std::vector<TableColumn>& columns);

// UserError if the columns do not make sense, or do not have `features` features.
std::vector<TableColumn> TableFromJson(const nlohmann::ordered_json& json, std::int64_t features);

// The columns of a model of format 1, which knew numbers and numeric codes only.
std::vector<TableColumn> TableFromFormat1(const nlohmann::ordered_json& schema,
                                          std::int64_t file_columns);

// Readers trust these fields. If they did not agree, readers would write past the end of a row.
void CheckTable(const std::vector<TableColumn>& columns, std::int64_t features);

}  // namespace hogbatch
