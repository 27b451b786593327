#include "datasets/convert/write_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/text.h"
#include "datasets/readers/numbers.h"

namespace hogbatch {
namespace {

// Calls `use(feature, value)` for the values of a row that are stored.
template <typename Use>
void ForEachValue(const Dataset& data, std::int64_t row, const Use& use) {
  if (!data.is_sparse) {
    for (std::int64_t i = 0; i < data.features; ++i) use(i, data.dense[row * data.features + i]);
    return;
  }
  for (std::int64_t i = data.offsets[row]; i < data.offsets[row + 1]; ++i) {
    use(data.columns[i], data.values[i]);
  }
}

std::string NumberOf(float value) { return fmt::format("{}", value); }

// What a feature of a column stands for.
std::string FeatureName(const TableColumn& column, const std::string& name, std::int64_t place) {
  const bool is_last = place + 1 == column.features();
  if (column.has_indicator && is_last) return name + "=missing";
  switch (column.kind) {
    case ColumnKind::kCategory:
      return fmt::format(
          "{}={}", name,
          place < std::ssize(column.categories) ? column.categories[place] : "other");
    case ColumnKind::kHashed:
    case ColumnKind::kDate:
      return place == 0 && column.kind == ColumnKind::kDate ? name
                                                            : fmt::format("{}.{}", name, place);
    case ColumnKind::kNumber:
    case ColumnKind::kLeftOut:
      break;
  }
  return name;
}

}  // namespace

std::string LabelOf(const Dataset& data, const Schema& schema, std::int64_t row) {
  switch (schema.label_kind) {
    case LabelKind::kClass:
      return schema.label_names[data.classes[row]];
    case LabelKind::kValue:
      return NumberOf(
          static_cast<float>(data.targets[row] * schema.target_deviation + schema.target_mean));
    case LabelKind::kMultiLabel:
      break;
  }
  std::vector<std::string> names;
  for (std::int64_t i = data.label_offsets[row]; i < data.label_offsets[row + 1]; ++i) {
    names.push_back(schema.label_names[data.labels[i]]);
  }
  return fmt::format("{}", fmt::join(names, ","));
}

bool HasNumericLabels(const Schema& schema) {
  return std::ranges::all_of(schema.label_names, LooksNumeric);
}

std::string LibsvmRow(const Dataset& data, const Schema& schema, std::int64_t row) {
  const bool is_numbered = schema.label_kind == LabelKind::kClass && !HasNumericLabels(schema);
  std::string text =
      is_numbered ? fmt::format("{}", data.classes[row]) : LabelOf(data, schema, row);
  ForEachValue(data, row, [&](std::int64_t feature, float value) {
    if (value != 0) text += fmt::format(" {}:{}", feature + 1, NumberOf(value));
  });
  return text + "\n";
}

std::string CsvRow(const Dataset& data, const Schema& schema, std::int64_t row) {
  std::vector<std::string> values(data.features, "0");
  ForEachValue(data, row,
               [&](std::int64_t feature, float value) { values[feature] = NumberOf(value); });
  return fmt::format("{},{}\n", fmt::join(values, ","), CsvText(LabelOf(data, schema, row)));
}

std::vector<std::string> FeatureNames(const Schema& schema) {
  std::vector<std::string> names;
  if (schema.table.empty()) {
    for (std::int64_t i = 0; i < schema.features; ++i) names.push_back(fmt::format("{}", i + 1));
    return names;
  }
  for (std::size_t i = 0; i < schema.table.size(); ++i) {
    const TableColumn& column = schema.table[i];
    const std::string name = ColumnName(schema, i);
    for (std::int64_t place = 0; place < column.features(); ++place) {
      names.push_back(FeatureName(column, name, place));
    }
  }
  return names;
}

std::string CsvHeader(const Schema& schema) {
  std::string line;
  for (const std::string& name : FeatureNames(schema)) line += CsvText(name) + ",";
  return line + CsvText(schema.label_name.empty() ? "label" : schema.label_name) + "\n";
}

void WriteRows(const Dataset& data, const Schema& schema, WrittenFormat to, const TakeText& write) {
  const bool is_csv = to == WrittenFormat::kCsv;
  if (is_csv) write(CsvHeader(schema));
  for (std::int64_t row = 0; row < data.rows; ++row) {
    write(is_csv ? CsvRow(data, schema, row) : LibsvmRow(data, schema, row));
  }
}

}  // namespace hogbatch
