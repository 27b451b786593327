#include "training/importance.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "core/error.h"
#include "core/random.h"

namespace hogbatch {
namespace {

constexpr std::int64_t kMostColumns = 5000;
constexpr std::int64_t kMostRows = 20000;
constexpr std::uint64_t kSeed = 1;

// Features that a column became.
struct Column {
  std::string name;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

std::vector<Column> ColumnsOf(const Schema& schema) {
  std::vector<Column> columns;
  if (schema.table.empty()) {
    for (std::int64_t i = 0; i < schema.features; ++i) {
      const std::int64_t place = schema.used_columns.empty() ? i : schema.used_columns[i];
      columns.push_back({.name = fmt::format("{}", place + 1), .begin = i, .end = i + 1});
    }
    return columns;
  }
  for (std::size_t i = 0; i < schema.table.size(); ++i) {
    const TableColumn& column = schema.table[i];
    if (column.features() == 0) continue;
    columns.push_back({.name = ColumnName(schema, i),
                       .begin = column.feature,
                       .end = column.feature + column.features()});
  }
  return columns;
}

// The first rows of `order`, dense.
Dataset Sample(Dataset data, std::span<const std::int64_t> order) {
  ConvertStorage(data, Storage::kDense);
  Dataset sample = data;
  sample.rows = std::ssize(order);
  sample.dense.clear();
  sample.classes.clear();
  sample.targets.clear();
  sample.labels.clear();
  if (!data.label_offsets.empty()) sample.label_offsets.assign(1, 0);
  for (const std::int64_t row : order) {
    const auto begin = data.dense.begin() + row * data.features;
    sample.dense.insert(sample.dense.end(), begin, begin + data.features);
    if (!data.classes.empty()) sample.classes.push_back(data.classes[row]);
    if (!data.targets.empty()) sample.targets.push_back(data.targets[row]);
    if (data.label_offsets.empty()) continue;
    sample.labels.insert(sample.labels.end(), data.labels.begin() + data.label_offsets[row],
                         data.labels.begin() + data.label_offsets[row + 1]);
    sample.label_offsets.push_back(std::ssize(sample.labels));
  }
  return sample;
}

// Takes the values of a column from other rows.
void Permute(const Column& column, const Dataset& from, std::span<const std::int64_t> order,
             Dataset& to) {
  for (std::int64_t row = 0; row < to.rows; ++row) {
    const auto source = from.dense.begin() + order[row] * from.features;
    std::copy(source + column.begin, source + column.end,
              to.dense.begin() + row * to.features + column.begin);
  }
}

}  // namespace

std::vector<ColumnImportance> MeasureImportance(const std::vector<DeviceChoice>& devices,
                                                const SavedModel& model, const Dataset& data) {
  const std::vector<Column> columns = ColumnsOf(model.schema);
  if (std::ssize(columns) > kMostColumns) {
    throw UserError(fmt::format(
        "--importance measures every column once, and the model has {}; it is for at most {}",
        columns.size(), kMostColumns));
  }
  const std::vector<std::int64_t> rows = Random(kSeed).Permutation(data.rows);
  const Dataset sample =
      Sample(data, std::span(rows).first(std::min<std::size_t>(rows.size(), kMostRows)));
  const std::vector<std::int64_t> order = Random(kSeed + 1).Permutation(sample.rows);
  const double loss = Evaluate(devices, model, sample).sums.mean_loss();
  std::vector<ColumnImportance> found;
  Dataset changed = sample;
  std::vector<std::int64_t> same(order.size());
  std::iota(same.begin(), same.end(), std::int64_t{0});
  for (const Column& column : columns) {
    Permute(column, sample, order, changed);
    const double changed_loss = Evaluate(devices, model, changed).sums.mean_loss();
    found.push_back({.name = column.name, .loss_added = changed_loss - loss});
    Permute(column, sample, same, changed);
  }
  std::ranges::stable_sort(found, std::greater<>(), &ColumnImportance::loss_added);
  return found;
}

}  // namespace hogbatch
