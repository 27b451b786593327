#include "datasets/table.h"

#include <array>

#include "core/words.h"

namespace hogbatch {
namespace {

constexpr std::array<NamedValue<ColumnKind>, 5> kKinds{{
    {"number", ColumnKind::kNumber},
    {"category", ColumnKind::kCategory},
    {"hashed", ColumnKind::kHashed},
    {"date", ColumnKind::kDate},
    {"left out", ColumnKind::kLeftOut},
}};

std::int64_t FeaturesOfCells(const TableColumn& column) {
  switch (column.kind) {
    case ColumnKind::kNumber:
      return 1;
    case ColumnKind::kCategory:
      return static_cast<std::int64_t>(column.categories.size()) + (column.has_other ? 1 : 0);
    case ColumnKind::kHashed:
      return std::int64_t{1} << column.hash_bits;
    case ColumnKind::kDate:
      return column.has_time_of_day ? 7 : 5;
    case ColumnKind::kLeftOut:
      break;
  }
  return 0;
}

}  // namespace

ColumnKind ParseColumnKind(std::string_view name) {
  return ParseWord("kind of column", name, kKinds);
}
std::string_view Name(ColumnKind kind) { return NameOf(kind, kKinds); }

std::int64_t TableColumn::features() const {
  return FeaturesOfCells(*this) + (has_indicator ? 1 : 0);
}

std::int64_t AssignFeatures(std::vector<TableColumn>& columns) {
  std::int64_t next = 0;
  for (TableColumn& column : columns) {
    column.feature = next;
    next += column.features();
  }
  return next;
}

std::vector<bool> FeaturesWithoutScale(const std::vector<TableColumn>& columns,
                                       std::int64_t features) {
  std::vector<bool> without(features);
  for (const TableColumn& column : columns) {
    const bool first_is_scaled =
        column.kind == ColumnKind::kNumber || column.kind == ColumnKind::kDate;
    for (std::int64_t i = first_is_scaled ? 1 : 0; i < column.features(); ++i) {
      without[column.feature + i] = true;
    }
  }
  return without;
}

}  // namespace hogbatch
