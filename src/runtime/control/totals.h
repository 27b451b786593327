// What workers and teams have done so far, for reports.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/control/algorithm.h"
#include "runtime/control/progress.h"
#include "runtime/control/teams.h"

namespace hogbatch {

// `failures`: why each worker failed; empty: it did not. `seconds` since training began.
std::vector<WorkerTotals> TotalsByWorker(std::span<const WorkerState> workers,
                                         std::span<const std::string> failures, double seconds);

std::vector<std::int64_t> RowsByTeam(const Teams& teams, std::span<const WorkerState> workers);

// Rates are over `seconds`, since which the teams had `rows_before`; empty: none.
std::vector<TeamProgress> TotalsByTeam(const Teams& teams, std::span<const WorkerState> workers,
                                       double seconds, std::span<const std::int64_t> rows_before);

}  // namespace hogbatch
