// Rows of a data set where they lie: what a device that shares host memory sees, and what is copied
// to any other (batch_copy.h).
#pragma once

#include <cstdint>
#include <vector>

#include "core/ids.h"
#include "datasets/dataset.h"
#include "device/device.h"
#include "nn/metrics.h"
#include "nn/model.h"

namespace hogbatch {

// Views of host rows: nothing is copied.
BatchInput ViewInput(const Dataset& data, RowRange rows);
Targets ViewTargets(const Dataset& data, RowRange rows);
HostTargets ViewHostTargets(const Dataset& data, RowRange rows);

// Rows of a batch, counted from its first, wherever it lies.
BatchInput SliceRows(const BatchInput& batch, RowRange rows);
Targets SliceRows(const Targets& targets, std::int64_t of_rows, RowRange rows);

// The columns that sparse rows name, and the rows again with columns counted among those: what a
// private gradient of the first layer is as large as. Reused from batch to batch.
class ColumnCompactor {
 public:
  explicit ColumnCompactor(std::int64_t columns) : place_(static_cast<std::size_t>(columns), -1) {}

  // Good until the next call.
  BatchInput Compact(const Dataset& data, RowRange rows);
  const std::vector<std::int32_t>& touched() const { return touched_; }

 private:
  std::vector<std::int32_t> place_;  // of each column among the touched, -1: not touched
  std::vector<std::int32_t> touched_;
  std::vector<std::int32_t> columns_;
  std::vector<std::int64_t> offsets_;
};

}  // namespace hogbatch
