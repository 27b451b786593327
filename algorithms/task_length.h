// How many updates make a task.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/control/algorithm.h"

namespace hogbatch {

// A message costs microseconds and an update may cost as little: a task is as many updates as fill
// 20 ms at the speed of its latest ones, but a small part of what is left, so that workers end
// together. The first is short: its rate is set when it is handed out, and would be too high for
// the model that a slow device meets when it is done.
class TaskLength {
 public:
  static constexpr double kSeconds = 0.02;

  void Observe(const Outcome& outcome);
  // Taken to grow with the rows, so that a size that was never tried needs no new measurement. 0
  // for a worker that was not seen yet.
  double SecondsPerUpdate(WorkerId worker, std::int64_t rows) const;
  // For a task of `worker` with updates of `rows` rows.
  std::int32_t Updates(WorkerId worker, std::int64_t rows, const JobTable& table) const;

 private:
  std::vector<double> seconds_per_row_;  // of each worker; 0: not seen yet
};

}  // namespace hogbatch
