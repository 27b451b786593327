// Processor time of this thread, or of the whole process.
#pragma once

#include <ctime>

namespace hogbatch::bench {

inline double ProcessorSeconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace hogbatch::bench
