// Staleness: how many merges of other workers lie between a merge and the read of the weights that
// it was computed from.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "core/state_visitor.h"

namespace hogbatch {

// Merges by their staleness: bucket 0 counts those of staleness 0, bucket k those from 2^(k-1) to
// 2^k - 1, the last one everything beyond.
struct StalenessHistogram {
  static constexpr std::size_t kBuckets = 20;
  std::array<std::int64_t, kBuckets> merges = {};  // in each bucket
  std::int64_t total_staleness = 0;                // over all merges

  void Add(std::int64_t staleness) {
    const auto known = std::max<std::int64_t>(staleness, 0);
    const std::size_t bucket = std::bit_width(static_cast<std::uint64_t>(known));
    ++merges[std::min(bucket, kBuckets - 1)];
    total_staleness += known;
  }
  // Merges in all buckets.
  std::int64_t count() const {
    return std::accumulate(merges.begin(), merges.end(), std::int64_t{0});
  }
  StalenessHistogram& operator+=(const StalenessHistogram& other) {
    for (std::size_t i = 0; i < kBuckets; ++i) merges[i] += other.merges[i];
    total_staleness += other.total_staleness;
    return *this;
  }
  void VisitState(StateVisitor& visitor) {
    Visit(visitor, "merges", merges);
    Visit(visitor, "total_staleness", total_staleness);
  }
  // The least staleness of a bucket.
  static std::int64_t From(std::size_t bucket) {
    return bucket == 0 ? 0 : std::int64_t{1} << (bucket - 1);
  }
};

}  // namespace hogbatch
