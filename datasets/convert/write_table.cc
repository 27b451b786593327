#include "datasets/convert/write_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "core/guard/json_text.h"
#include "core/text.h"
#include "datasets/readers/numbers.h"

namespace hogbatch {
namespace {

using Json = nlohmann::ordered_json;

// A cell as JSON: a number if it is written as one.
Json CellOf(const std::string& field) {
  if (field.empty()) return nullptr;
  if (!LooksNumeric(field)) return field;
  const auto number = ParseJson<Json>(field);
  return number.is_number() ? number : Json(field);
}

}  // namespace

void WriteTable(const WrittenRows& table, WrittenFormat to, std::size_t max_bytes,
                const TakeText& write) {
  if (table.is_json && to == WrittenFormat::kCsv) return write(CsvOfJson(table, max_bytes));
  if (table.is_json) {
    for (const std::string_view line : table.rows) write(fmt::format("{}\n", line));
    return;
  }
  if (to == WrittenFormat::kCsv) {
    std::vector<std::string> names;
    for (const std::string& name : table.names) names.push_back(CsvText(name));
    if (!names.empty()) write(fmt::format("{}\n", fmt::join(names, ",")));
  }
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    std::vector<std::string> fields = FieldsOf(table, row);
    if (to == WrittenFormat::kCsv) {
      for (std::string& field : fields) field = CsvText(field);
      write(fmt::format("{}\n", fmt::join(fields, ",")));
      continue;
    }
    std::string line;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const Json name = i < table.names.size() ? table.names[i] : fmt::format("{}", i + 1);
      line +=
          fmt::format("{}{}:{}", i == 0 ? "{" : ",", JsonText(name), JsonText(CellOf(fields[i])));
    }
    write(line + "}\n");
  }
}

}  // namespace hogbatch
