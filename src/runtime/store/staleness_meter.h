// Measures how stale a worker's updates are.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "core/staleness.h"

namespace hogbatch {

// Everybody's merges of one model. Relaxed: it only counts.
struct alignas(64) MergeCounter {
  std::atomic<std::int64_t> merges = 0;
};

// One worker's: what it merges itself between a read and the merge that belongs to it is not
// counted.
class StalenessMeter {
 public:
  explicit StalenessMeter(MergeCounter& counter) : counter_(counter) {}

  struct ReadAt {
    std::int64_t all = 0;
    std::int64_t own = 0;
  };
  // To be kept with what is read of the model now.
  ReadAt Read() const { return {counter_.merges.load(std::memory_order_relaxed), own_}; }

  // What came of that read is in the model.
  void Merged(const ReadAt& read) {
    const std::int64_t all = counter_.merges.fetch_add(1, std::memory_order_relaxed);
    histogram_.Add((all - read.all) - (own_ - read.own));
    ++own_;
  }

  // Since it was last taken.
  StalenessHistogram Take() { return std::exchange(histogram_, {}); }

 private:
  MergeCounter& counter_;
  std::int64_t own_ = 0;
  StalenessHistogram histogram_;
};

}  // namespace hogbatch
