// A loop over independent parts on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "core/guard/machine_limits.h"

namespace hogbatch {

inline int ThreadCount(int asked) {
  return asked > 0 ? asked : UsableCores(static_cast<int>(std::thread::hardware_concurrency()));
}

// Calls body(i) for every i in [0, count), low ones first; the first exception ends the loop and is
// rethrown here.
template <typename Body>
void ParallelFor(std::int64_t count, int threads, const Body& body) {
  std::atomic<std::int64_t> next = 0;
  std::exception_ptr failure;
  std::mutex mutex;
  const auto work = [&] {
    try {
      for (std::int64_t i = next++; i < count; i = next++) body(i);
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  {
    const std::int64_t helpers = std::min<std::int64_t>(ThreadCount(threads), count) - 1;
    std::vector<std::jthread> pool;
    try {
      for (std::int64_t i = 0; i < helpers; ++i) pool.emplace_back(work);
    } catch (const std::system_error&) {  // no more threads: those that run do all
    }
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace hogbatch
