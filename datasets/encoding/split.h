// Which rows are trained on and which validate.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hogbatch {

struct RowSplit {
  std::vector<std::int64_t> order;  // training rows in random order, then validation rows
  std::int64_t train_rows = 0;
};

// What a split is made of: rows of a file, the share that validates, and the seed of the order.
struct SplitRequest {
  std::span<const std::int64_t> rows;
  double valid_fraction = 0.1;
  std::uint64_t seed = 1;
};

// Validation rows of `rows` rows: at least one if any are wanted, and never all.
std::int64_t CountValidRows(std::int64_t rows, double valid_fraction);

RowSplit SplitAtRandom(const SplitRequest& request);

// Every class has its share of validation rows; classes[i] is that of rows[i].
RowSplit SplitByClass(const SplitRequest& request, std::span<const std::int32_t> classes);

// Rows of one group are all on one side. Groups are taken at random until there are enough
// validation rows; groups[i] is that of rows[i].
RowSplit SplitByGroup(const SplitRequest& request, std::span<const std::int64_t> groups);

// The latest rows validate; times[i] is that of rows[i].
RowSplit SplitByTime(const SplitRequest& request, std::span<const double> times);

}  // namespace hogbatch
