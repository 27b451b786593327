// What the first measurements of throughput say about later runs of a side.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "compare/phases/schedule.h"
#include "compare/runs/run_log.h"
#include "compare/runs/side.h"

namespace hogbatch::compare {

struct SideSpeed {
  std::string variant;  // the fastest
  double examples_per_second = 0;
  double least_examples_per_second = 0;  // if updates take as long at a smaller batch size
};
// At the measured batch size nearest to `batch`; none where the side never trained.
std::optional<SideSpeed> SpeedAt(const RunLog& log, const Side& side, std::int64_t batch);

// Averages; none where the side never trained.
std::optional<SideCost> CostOf(const RunLog& log, const Side& side);

}  // namespace hogbatch::compare
