// Names of things that messages carry by value.
#pragma once

#include <cstdint>

namespace hogbatch {

using JobId = std::int32_t;
using WorkerId = std::int32_t;
using TeamId = std::int32_t;
using TaskId = std::int64_t;
using SnapshotId = std::int32_t;

// Rows [begin, end) of a data set, in its stored order.
struct RowRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  std::int64_t size() const { return end - begin; }
  bool operator==(const RowRange&) const = default;
};

// Part `index` of `parts` nearly equal pieces: sizes differ by at most one row, so no tail is left
// over.
inline RowRange Part(RowRange rows, std::int64_t index, std::int64_t parts) {
  return {rows.begin + rows.size() * index / parts, rows.begin + rows.size() * (index + 1) / parts};
}

// Which rows of a job: those it learns from, those that choose the best model, those it never sees.
enum class Split : std::uint8_t { kTrain, kValid, kTest };

}  // namespace hogbatch
