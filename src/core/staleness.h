// How old the weights behind an update were when it was merged.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace hogbatch {

// Counts merges by those of others that lay between the read they come from and themselves: bucket
// 0 none, bucket k from 2^(k-1) to 2^k - 1, the last one everything beyond.
struct StalenessHistogram {
  static constexpr std::size_t kBuckets = 20;
  std::array<std::int64_t, kBuckets> updates = {};
  std::int64_t merges = 0;  // over all updates

  void Add(std::int64_t merges_between) {
    const auto between = std::max<std::int64_t>(merges_between, 0);
    const auto bucket =
        static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(between)));
    ++updates[std::min(bucket, kBuckets - 1)];
    merges += between;
  }
  // How many were counted.
  std::int64_t count() const {
    return std::accumulate(updates.begin(), updates.end(), std::int64_t{0});
  }
  StalenessHistogram& operator+=(const StalenessHistogram& other) {
    for (std::size_t i = 0; i < kBuckets; ++i) updates[i] += other.updates[i];
    merges += other.merges;
    return *this;
  }
  // The fewest merges that count in a bucket.
  static std::int64_t From(std::size_t bucket) {
    return bucket == 0 ? 0 : std::int64_t{1} << (bucket - 1);
  }
};

}  // namespace hogbatch
