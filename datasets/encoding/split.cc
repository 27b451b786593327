#include "datasets/encoding/split.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "core/error.h"
#include "core/random.h"

namespace hogbatch {
namespace {

// Positions in request.rows in random order.
std::vector<std::int64_t> Shuffled(const SplitRequest& request) {
  return Random(request.seed).Permutation(std::ssize(request.rows));
}

// `validates(position)` is asked for the positions in random order, the last one first.
template <typename Validates>
RowSplit SplitWhere(const SplitRequest& request, const Validates& validates) {
  RowSplit split;
  std::vector<std::int64_t> valid;
  const std::vector<std::int64_t> positions = Shuffled(request);
  for (auto at = positions.rbegin(); at != positions.rend(); ++at) {
    const std::int64_t row = request.rows[*at];
    (validates(*at) ? valid : split.order).push_back(row);
  }
  // As the permutation has them.
  std::ranges::reverse(split.order);
  std::ranges::reverse(valid);
  split.train_rows = std::ssize(split.order);
  split.order.insert(split.order.end(), valid.begin(), valid.end());
  return split;
}

// Rows of a class are dealt to the folds in turn, and those of the next class go on from there: all
// folds are equally large, and have equal shares of every class, to a row.
RowSplit DealByClass(const SplitRequest& request, std::span<const std::int32_t> classes) {
  std::map<std::int32_t, std::int64_t> rows;
  for (const std::int32_t one : classes) ++rows[one];
  std::map<std::int32_t, std::int64_t> next;
  std::int64_t before = 0;
  for (const auto& [one, count] : rows) {
    next[one] = before;
    before += count;
  }
  return SplitWhere(request, [&](std::size_t i) {
    return next[classes[i]]++ % request.fold.of == request.fold.number;
  });
}

// Each group, in random order, goes to the fold with fewest rows.
RowSplit DealByGroup(const SplitRequest& request, std::span<const std::int64_t> groups) {
  std::map<std::int64_t, std::int64_t> sizes;
  for (const std::int64_t group : groups) ++sizes[group];
  std::map<std::int64_t, std::ptrdiff_t> fold_of;
  std::vector<std::int64_t> rows(request.fold.of);
  for (const std::int64_t position : Shuffled(request)) {
    const std::int64_t group = groups[position];
    if (fold_of.contains(group)) continue;
    const auto fewest = std::ranges::min_element(rows);
    fold_of[group] = fewest - rows.begin();
    *fewest += sizes[group];
  }
  return SplitWhere(request,
                    [&](std::size_t i) { return fold_of[groups[i]] == request.fold.number; });
}

}  // namespace

Fold ParseFold(std::string_view text) {
  if (text.empty()) return {};
  Fold fold;
  const std::size_t slash = text.find('/');
  const auto number = [&](std::string_view digits, std::int64_t& value) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc() && end == digits.data() + digits.size();
  };
  if (slash != std::string_view::npos && number(text.substr(0, slash), fold.number) &&
      number(text.substr(slash + 1), fold.of) && fold.of >= 2 && fold.of <= kMostFolds &&
      fold.number >= 1 && fold.number <= fold.of) {
    --fold.number;
    return fold;
  }
  throw UserError(fmt::format("--fold {}: write which fold of how many, from 1/2 to {}/{}", text,
                              kMostFolds, kMostFolds));
}

std::int64_t CountValidRows(std::int64_t rows, double valid_fraction) {
  if (valid_fraction <= 0 || rows < 2) return 0;
  const double valid = std::round(static_cast<double>(rows) * std::min(valid_fraction, 1.0));
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(valid), 1, rows - 1);
}

RowSplit SplitAtRandom(const SplitRequest& request) {
  if (const Fold fold = request.fold) {
    std::int64_t next = 0;
    return SplitWhere(request, [&](std::size_t) { return next++ % fold.of == fold.number; });
  }
  std::int64_t left = CountValidRows(std::ssize(request.rows), request.valid_fraction);
  return SplitWhere(request, [&](std::size_t) { return left-- > 0; });
}

RowSplit SplitByClass(const SplitRequest& request, std::span<const std::int32_t> classes) {
  if (request.fold) return DealByClass(request, classes);
  const std::int64_t wanted = CountValidRows(std::ssize(request.rows), request.valid_fraction);
  std::map<std::int32_t, std::int64_t> rows;
  for (const std::int32_t one : classes) ++rows[one];
  // Whole shares first; what is missing goes to the classes with the largest remainders.
  struct Share {
    std::int32_t of;
    std::int64_t rows;
    double remainder;
  };
  std::vector<Share> shares;
  std::int64_t missing = wanted;
  for (const auto& [one, count] : rows) {
    const double share = static_cast<double>(wanted) * static_cast<double>(count) /
                         static_cast<double>(classes.size());
    const auto whole = static_cast<std::int64_t>(share);
    shares.push_back({one, whole, share - static_cast<double>(whole)});
    missing -= whole;
  }
  std::ranges::stable_sort(shares, std::greater(), &Share::remainder);
  std::map<std::int32_t, std::int64_t> left;
  for (const Share& share : shares) left[share.of] = share.rows + (missing-- > 0 ? 1 : 0);
  return SplitWhere(request, [&](std::size_t i) { return left[classes[i]]-- > 0; });
}

RowSplit SplitByGroup(const SplitRequest& request, std::span<const std::int64_t> groups) {
  if (request.fold) return DealByGroup(request, groups);
  const std::int64_t wanted = CountValidRows(std::ssize(request.rows), request.valid_fraction);
  std::map<std::int64_t, std::int64_t> sizes;
  for (const std::int64_t group : groups) ++sizes[group];
  std::map<std::int64_t, bool> validates;
  std::int64_t valid = 0;
  std::size_t left = sizes.size();  // one group must train
  for (const std::int64_t position : Shuffled(request)) {
    const std::int64_t group = groups[position];
    const auto [place, is_new] = validates.emplace(group, false);
    if (!is_new) continue;
    if (valid >= wanted || left < 2) continue;
    place->second = true;
    valid += sizes[group];
    --left;
  }
  return SplitWhere(request, [&](std::size_t i) { return validates[groups[i]]; });
}

RowSplit SplitByTime(const SplitRequest& request, std::span<const double> times) {
  const std::int64_t wanted = CountValidRows(std::ssize(request.rows), request.valid_fraction);
  std::vector<std::size_t> by_time(times.size());
  std::iota(by_time.begin(), by_time.end(), std::size_t{0});
  std::ranges::stable_sort(by_time, {}, [&](std::size_t i) { return times[i]; });
  std::vector<bool> is_late(times.size(), false);
  for (std::int64_t i = 0; i < wanted; ++i) {
    is_late[by_time[by_time.size() - 1 - i]] = true;
  }
  return SplitWhere(request, [&](std::size_t i) { return is_late[i]; });
}

}  // namespace hogbatch
