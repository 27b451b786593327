// Views of a data set's rows in host memory. A device that shares host memory uses them in place;
// batch_copy.h copies them to any other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/ids.h"
#include "datasets/dataset.h"
#include "device/device.h"
#include "nn/metrics.h"
#include "nn/model.h"

namespace hogbatch {

BatchInput ViewInput(const Dataset& data, RowRange rows);
Targets ViewTargets(const Dataset& data, RowRange rows);
HostTargets ViewHostTargets(const Dataset& data, RowRange rows);

// Some rows of a batch, counted from its first, on any device.
BatchInput SliceRows(const BatchInput& batch, RowRange rows);
Targets SliceRows(const Targets& targets, std::int64_t of_rows, RowRange rows);

// Copies the offsets of some rows, so that they count from the first, which is returned. They never
// fall, even if rows of a mapped file are lost at the same time: each is read once.
std::int64_t CountFromFirst(std::span<const std::int64_t> from, std::vector<std::int64_t>& to);

// Renumbers the columns of sparse rows: those that occur become 0, 1, 2 … A private gradient of the
// first layer then needs one row for each of them only. Reused from batch to batch.
class ColumnCompactor {
 public:
  explicit ColumnCompactor(std::int64_t columns) : place_(columns, -1) {}

  // The result is valid until the next call.
  BatchInput Compact(const Dataset& data, RowRange rows);
  // The columns that occurred, ascending.
  const std::vector<std::int32_t>& touched() const { return touched_; }

 private:
  std::vector<std::int32_t> place_;  // of each column among touched(); -1: none
  std::vector<std::int32_t> touched_;
  std::vector<std::int32_t> columns_;
  std::vector<std::int64_t> offsets_;
};

}  // namespace hogbatch
