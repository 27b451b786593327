// Which rows are trained on and which validate.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace hogbatch {

// The part of the rows that validates, of parts that do not overlap; of 0 parts: no such part.
struct Fold {
  std::int64_t number = 0;  // from 0
  std::int64_t of = 0;

  explicit operator bool() const { return of > 0; }
};
inline constexpr std::int64_t kMostFolds = 1000;
// "2/5" is the second of five parts, and an empty text none. UserError for other texts.
Fold ParseFold(std::string_view text);

struct RowSplit {
  std::vector<std::int64_t> order;  // training rows in random order, then validation rows
  std::int64_t train_rows = 0;
};

// What a split is made of: rows of a file, the share or the fold that validates, and the seed of
// the order.
struct SplitRequest {
  std::span<const std::int64_t> rows;
  double valid_fraction = 0.1;
  Fold fold = {};  // instead of valid_fraction; not by time
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
