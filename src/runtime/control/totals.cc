#include "runtime/control/totals.h"

#include <algorithm>

namespace hogbatch {

std::vector<WorkerTotals> TotalsByWorker(std::span<const WorkerState> workers,
                                         std::span<const std::string> failures, double seconds) {
  std::vector<WorkerTotals> totals;
  for (const WorkerState& worker : workers) {
    totals.push_back({.name = worker.device.name,
                      .updates = worker.updates,
                      .batch_size = worker.batch_size,
                      .busy_fraction = seconds > 0 ? worker.busy_seconds / seconds : 0,
                      .failure = failures[static_cast<std::size_t>(worker.id)]});
  }
  return totals;
}

std::vector<std::int64_t> RowsByTeam(const Teams& teams, std::span<const WorkerState> workers) {
  std::vector<std::int64_t> rows(teams.names.size());
  for (const WorkerState& worker : workers) {
    rows[static_cast<std::size_t>(worker.team)] += worker.rows;
  }
  return rows;
}

std::vector<TeamProgress> TotalsByTeam(const Teams& teams, std::span<const WorkerState> workers,
                                       double seconds, std::span<const std::int64_t> rows_before) {
  std::vector<TeamProgress> totals;
  const std::vector<std::int64_t> rows = RowsByTeam(teams, workers);
  for (std::size_t i = 0; i < teams.names.size(); ++i) {
    const std::int64_t fresh = rows[i] - (rows_before.empty() ? 0 : rows_before[i]);
    totals.push_back(
        {.name = teams.names[i], .rows_per_second = static_cast<double>(fresh) / seconds});
  }
  std::int64_t all = 0;
  for (const WorkerState& worker : workers) {
    TeamProgress& team = totals[static_cast<std::size_t>(worker.team)];
    team.updates += worker.updates;
    team.batch_size = std::max(team.batch_size, worker.batch_size);
    all += worker.updates;
  }
  for (TeamProgress& team : totals) {
    team.update_share = all > 0 ? static_cast<double>(team.updates) / static_cast<double>(all) : 0;
  }
  return totals;
}

}  // namespace hogbatch
