// What workers and teams have done so far, for reports.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/indexed_vector.h"
#include "runtime/control/algorithm.h"
#include "runtime/control/progress.h"
#include "runtime/control/teams.h"

namespace hogbatch {

// `failures`: why each worker failed; empty: it did not. `seconds`: since training began.
std::vector<WorkerTotals> TotalsByWorker(std::span<const WorkerState> workers,
                                         const IndexedVector<WorkerId, std::string>& failures,
                                         double seconds);

using RowsPerTeam = IndexedVector<TeamId, std::int64_t>;
RowsPerTeam RowsByTeam(const Teams& teams, std::span<const WorkerState> workers);

// Speeds are over the last `seconds`, before which the teams had trained `rows_before`.
IndexedVector<TeamId, TeamProgress> TotalsByTeam(const Teams& teams,
                                                 std::span<const WorkerState> workers,
                                                 double seconds, const RowsPerTeam& rows_before);

}  // namespace hogbatch
