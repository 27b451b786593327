#include "runtime/control/totals.h"

#include <algorithm>

namespace hogbatch {

std::vector<WorkerTotals> TotalsByWorker(std::span<const WorkerState> workers,
                                         const IndexedVector<WorkerId, std::string>& failures,
                                         double seconds) {
  std::vector<WorkerTotals> totals;
  for (const WorkerState& worker : workers) {
    totals.push_back({.name = worker.device.name,
                      .updates = worker.updates,
                      .batch_size = worker.batch_size,
                      .busy_fraction = seconds > 0 ? worker.busy_seconds / seconds : 0,
                      .failure = failures[worker.id]});
  }
  return totals;
}

RowsPerTeam RowsByTeam(const Teams& teams, std::span<const WorkerState> workers) {
  RowsPerTeam rows(teams.names.size());
  for (const WorkerState& worker : workers) rows[worker.team] += worker.rows;
  return rows;
}

IndexedVector<TeamId, TeamProgress> TotalsByTeam(const Teams& teams,
                                                 std::span<const WorkerState> workers,
                                                 double seconds, const RowsPerTeam& rows_before) {
  IndexedVector<TeamId, TeamProgress> totals(teams.names.size());
  std::int64_t all_updates = 0;
  for (const WorkerState& worker : workers) {
    TeamProgress& team = totals[worker.team];
    team.kind = worker.device.kind;
    team.updates += worker.updates;
    team.batch_size = std::max(team.batch_size, worker.batch_size);
    all_updates += worker.updates;
  }
  const RowsPerTeam rows = RowsByTeam(teams, workers);
  for (const TeamId id : totals.ids()) {
    TeamProgress& team = totals[id];
    team.name = teams.names[id];
    team.rows_per_second = static_cast<double>(rows[id] - rows_before[id]) / seconds;
    if (all_updates > 0) {
      team.update_share = static_cast<double>(team.updates) / static_cast<double>(all_updates);
    }
  }
  return totals;
}

}  // namespace hogbatch
