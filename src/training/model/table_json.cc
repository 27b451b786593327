#include "training/model/table_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "training/model/json_numbers.h"

namespace hogbatch {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kMostHashBits = 24;

Json ColumnToJson(const TableColumn& column, std::int64_t next_feature) {
  const TableColumn usual;
  Json json = Json::object();
  if (!column.name.empty()) json["name"] = column.name;
  if (column.kind != usual.kind) json["kind"] = Name(column.kind);
  if (!column.reason.empty()) json["reason"] = column.reason;
  if (column.feature != next_feature) json["feature"] = column.feature;
  if (column.has_indicator) json["has_indicator"] = true;
  if (column.fill != usual.fill) json["fill"] = column.fill;
  if (!column.missing_words.empty()) json["missing_words"] = column.missing_words;
  if (column.style == NumberStyle::kComma) json["decimal"] = ",";
  if (column.kind == ColumnKind::kCategory) {
    json["categories"] = column.categories;
    if (column.has_other) json["has_other"] = true;
    if (column.fill_category != 0) json["fill_category"] = column.fill_category;
  }
  if (column.kind == ColumnKind::kHashed) json["hash_bits"] = column.hash_bits;
  if (column.date_order == DateOrder::kDayFirst) json["day_first"] = true;
  if (column.has_time_of_day) json["has_time_of_day"] = true;
  return json;
}

TableColumn ColumnFromJson(const Json& json, std::int64_t next_feature) {
  TableColumn column;
  column.name = json.value("name", "");
  column.kind = ParseColumnKind(json.value("kind", std::string(Name(column.kind))));
  column.reason = json.value("reason", "");
  column.feature = json.contains("feature") ? Integer(json["feature"], 0, "feature") : next_feature;
  column.has_indicator = json.value("has_indicator", false);
  if (json.contains("fill")) column.fill = Float(json["fill"], "fill");
  column.missing_words = json.value("missing_words", std::vector<std::string>());
  const std::string decimal = json.value("decimal", ".");
  Require(decimal == "." || decimal == ",", "decimal is neither . nor ,");
  column.style = decimal == "," ? NumberStyle::kComma : NumberStyle::kPoint;
  column.categories = json.value("categories", std::vector<std::string>());
  column.has_other = json.value("has_other", false);
  if (json.contains("fill_category")) {
    column.fill_category = Integer(json["fill_category"], 0, "fill_category");
  }
  if (json.contains("hash_bits")) {
    const std::int64_t bits = Integer(json["hash_bits"], 1, "hash_bits");
    Require(bits <= kMostHashBits, fmt::format("hash_bits is {}", bits));
    column.hash_bits = static_cast<int>(bits);
  }
  if (json.value("day_first", false)) column.date_order = DateOrder::kDayFirst;
  column.has_time_of_day = json.value("has_time_of_day", false);
  return column;
}

void CheckColumn(const TableColumn& column) {
  if (column.kind == ColumnKind::kHashed) {
    Require(column.hash_bits > 0, "a hashed column has no hash_bits");
  }
  if (column.kind != ColumnKind::kCategory) return;
  Require(!column.categories.empty(), "a categorical column has no category");
  const std::set<std::string> different(column.categories.begin(), column.categories.end());
  Require(different.size() == column.categories.size(), "a category stands twice");
  Require(column.fill_category < std::ssize(column.categories), "fill_category is no category");
}

}  // namespace

nlohmann::ordered_json TableToJson(const std::vector<TableColumn>& columns) {
  Json array = Json::array();
  std::int64_t next = 0;
  for (const TableColumn& column : columns) {
    array.push_back(ColumnToJson(column, next));
    next = column.feature + column.features();
  }
  return array;
}

std::vector<TableColumn> TableFromJson(const nlohmann::ordered_json& json, std::int64_t features) {
  Require(json.is_array(), "table is not a list");
  std::vector<TableColumn> columns;
  std::int64_t next = 0;
  for (const Json& one : json) {
    columns.push_back(ColumnFromJson(one, next));
    CheckColumn(columns.back());
    next = columns.back().feature + columns.back().features();
  }
  CheckTable(columns, features);
  return columns;
}

std::vector<TableColumn> TableFromFormat1(const nlohmann::ordered_json& schema,
                                          std::int64_t file_columns) {
  // Only columns that a file can have are worth their memory: see the limit of CSV files.
  Require(file_columns <= std::int64_t{1} << 20, "file_columns is more than a file can have");
  const auto names = schema.value("column_names", std::vector<std::string>());
  Require(names.empty() || std::ssize(names) == file_columns, "names and columns differ in number");
  const Json& categorical = schema.at("categorical");
  std::vector<TableColumn> columns(file_columns);
  std::int64_t next = file_columns - std::ssize(categorical);
  for (const Json& one : categorical) {
    const std::int64_t index = Integer(one.at("column"), 0, "a categorical column");
    Require(index < file_columns, "a categorical column lies outside the file or stands twice");
    TableColumn& column = columns[index];
    Require(column.kind == ColumnKind::kNumber,
            "a categorical column lies outside the file or stands twice");
    column.kind = ColumnKind::kCategory;
    column.feature = next;
    for (const Json& value : one.at("values")) {
      column.categories.push_back(fmt::format(
          "{}", Integer(value, std::numeric_limits<std::int64_t>::min(), "a category")));
    }
    CheckColumn(column);
    next += column.features();
  }
  std::int64_t number = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!names.empty()) columns[i].name = names[i];
    if (columns[i].kind == ColumnKind::kNumber) columns[i].feature = number++;
  }
  return columns;
}

void CheckTable(const std::vector<TableColumn>& columns, std::int64_t features) {
  Require(std::ssize(columns) <= std::int64_t{1} << 20, "table has too many columns");
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
  for (const TableColumn& column : columns) {
    if (column.features() > 0) ranges.emplace_back(column.feature, column.features());
  }
  std::ranges::sort(ranges);
  std::int64_t next = 0;
  for (const auto& [first, count] : ranges) {
    Require(first == next, "features and columns do not add up");
    next += count;
  }
  Require(next == features, "features and columns do not add up");
}

}  // namespace hogbatch
