// Measures how stale a worker's updates are.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "core/staleness.h"

namespace hogbatch {

// Merges into one model by all workers. Relaxed, because it only counts.
struct alignas(64) MergeCounter {
  std::atomic<std::int64_t> merges = 0;
};

// Counts the merges of other workers between a worker's read of the model and its merge.
class StalenessMeter {
 public:
  explicit StalenessMeter(MergeCounter& counter) : counter_(counter) {}

  struct ReadAt {
    std::int64_t all = 0;
    std::int64_t own = 0;
  };
  // Called when the model is read; the result belongs to that copy.
  ReadAt Read() const { return {counter_.merges.load(std::memory_order_relaxed), own_}; }

  // What was made from that copy has been merged.
  void Merged(const ReadAt& read) {
    const std::int64_t all = counter_.merges.fetch_add(1, std::memory_order_relaxed);
    histogram_.Add((all - read.all) - (own_ - read.own));
    ++own_;
  }

  // The merges since the last call.
  StalenessHistogram Take() { return std::exchange(histogram_, {}); }

 private:
  MergeCounter& counter_;
  std::int64_t own_ = 0;
  StalenessHistogram histogram_;
};

}  // namespace hogbatch
