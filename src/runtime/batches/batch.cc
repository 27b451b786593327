#include "runtime/batches/batch.h"

#include <algorithm>

namespace hogbatch {
namespace {

// Of an array of a data set, or of a vector.
template <typename Values>
using ValueOf = typename Values::value_type;

template <typename Values>
DeviceSpan<const ValueOf<Values>> View(const Values& from, std::int64_t first, std::int64_t count) {
  return HostSpan<const ValueOf<Values>>(from.data() + first, count);
}
template <typename Values>
DeviceSpan<const ValueOf<Values>> View(const Values& from) {
  return View(from, 0, std::ssize(from));
}

template <typename T>
std::span<const T> Slice(const Array<T>& from, std::int64_t first, std::int64_t count) {
  if (from.empty()) return {};
  return std::span(from).subspan(first, count);
}

CsrTensor ViewCsr(const Dataset& data, RowRange rows) {
  return {.offsets = View(data.offsets, rows.begin, rows.size() + 1),
          .columns = View(data.columns),
          .values = View(data.values),
          .rows = rows.size(),
          .cols = data.features};
}

}  // namespace

BatchInput ViewInput(const Dataset& data, RowRange rows) {
  if (data.is_sparse) return {.dense = {}, .sparse = ViewCsr(data, rows), .is_sparse = true};
  // No call of a device writes to its input.
  auto* first = const_cast<float*>(data.dense.data()) + rows.begin * data.features;
  const DeviceSpan<float> span = HostSpan(first, rows.size() * data.features);
  return {.dense = Tensor::Matrix(span, rows.size(), data.features), .sparse = {}};
}

Targets ViewTargets(const Dataset& data, RowRange rows) {
  Targets targets;
  if (!data.classes.empty()) targets.classes = View(data.classes, rows.begin, rows.size());
  if (!data.label_offsets.empty()) {
    targets.label_offsets = View(data.label_offsets, rows.begin, rows.size() + 1);
    targets.labels = View(data.labels);
  }
  if (!data.targets.empty()) targets.values = View(data.targets, rows.begin, rows.size());
  if (!data.weights.empty()) targets.weights = View(data.weights, rows.begin, rows.size());
  return targets;
}

HostTargets ViewHostTargets(const Dataset& data, RowRange rows) {
  return {.classes = Slice(data.classes, rows.begin, rows.size()),
          .label_offsets = Slice(data.label_offsets, rows.begin, rows.size() + 1),
          .labels = std::span(data.labels),
          .values = Slice(data.targets, rows.begin, rows.size()),
          .weights = Slice(data.weights, rows.begin, rows.size())};
}

BatchInput SliceRows(const BatchInput& batch, RowRange rows) {
  BatchInput slice = batch;
  if (batch.is_sparse) {
    slice.sparse.offsets = batch.sparse.offsets.Sub(rows.begin, rows.size() + 1);
    slice.sparse.rows = rows.size();
  } else {
    slice.dense = batch.dense.Slice(rows.begin, rows.size());
  }
  return slice;
}

Targets SliceRows(const Targets& targets, std::int64_t of_rows, RowRange rows) {
  Targets slice = targets;
  if (targets.classes.size > 0) slice.classes = targets.classes.Sub(rows.begin, rows.size());
  if (targets.label_offsets.size > 0) {
    slice.label_offsets = targets.label_offsets.Sub(rows.begin, rows.size() + 1);
  }
  if (targets.weights.size > 0) slice.weights = targets.weights.Sub(rows.begin, rows.size());
  const std::int64_t values = targets.values.size / of_rows;  // per row
  slice.values = targets.values.Sub(rows.begin * values, rows.size() * values);
  return slice;
}

std::int64_t CountFromFirst(std::span<const std::int64_t> from, std::vector<std::int64_t>& to) {
  const std::int64_t first = from.front();
  to.assign(from.size(), 0);
  for (std::size_t i = 1; i < from.size(); ++i) to[i] = std::max(to[i - 1], from[i] - first);
  return first;
}

BatchInput ColumnCompactor::Compact(const Dataset& data, RowRange rows) {
  const std::int64_t begin =
      CountFromFirst(Slice(data.offsets, rows.begin, rows.size() + 1), offsets_);
  const auto all = Slice(data.columns, begin, offsets_.back());
  columns_.assign(all.begin(), all.end());  // they are read once: see CountFromFirst
  touched_.clear();
  for (const std::int32_t column : columns_) {
    std::int32_t& place = place_[column];
    if (place >= 0) continue;
    place = 0;
    touched_.push_back(column);
  }
  std::sort(touched_.begin(), touched_.end());
  for (std::size_t i = 0; i < touched_.size(); ++i) {
    place_[touched_[i]] = static_cast<std::int32_t>(i);
  }
  for (std::int32_t& column : columns_) column = place_[column];
  for (const std::int32_t column : touched_) place_[column] = -1;

  return {.dense = {},
          .sparse = {.offsets = View(offsets_),
                     .columns = View(columns_),
                     .values = View(data.values, begin, offsets_.back()),
                     .rows = rows.size(),
                     .cols = static_cast<std::int64_t>(touched_.size())},
          .is_sparse = true};
}

}  // namespace hogbatch
