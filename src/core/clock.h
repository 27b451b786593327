// The clock of everything that measures time.
#pragma once

#include <chrono>

namespace hogbatch {

// Seconds since an arbitrary moment; never goes back.
inline double SteadySeconds() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}

}  // namespace hogbatch
