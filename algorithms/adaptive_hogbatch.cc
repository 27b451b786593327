// Adaptive Hogbatch: Hogbatch whose batch sizes follow the teams' counts of updates, so that no
// team makes far more updates than the others. adaptive_rule.h holds the published rule,
// adaptive_damping.h what keeps it from swinging, adaptive_bounds.h the limits of a batch size.
// This file decides when a team is reviewed, and keeps the counts.
//
// A team is reviewed at the first request after each of its live workers has reported since its
// last review. A rule applied at every request would judge the same reports many times over and
// overshoot from one bound to the other.
#include <algorithm>
#include <cmath>
#include <vector>

#include "algorithms/adaptive_bounds.h"
#include "algorithms/adaptive_damping.h"
#include "algorithms/adaptive_rule.h"
#include "algorithms/adaptive_teams.h"
#include "algorithms/table.h"
#include "core/indexed_vector.h"

namespace hogbatch {
namespace {

class AdaptiveHogbatch : public Algorithm {
 public:
  explicit AdaptiveHogbatch(const AlgorithmOptions& options)
      : options_(options), own_(options.own.as<AdaptiveOptions>()) {}

  // Looks at every worker once or twice, for a task of 20 ms.
  std::optional<Assignment> Assign(const WorkerState& idle, const JobTable& table) override {
    const JobState& job = table.jobs.front();
    if (job.remaining_rows == 0) return std::nullopt;  // nothing to choose a size for
    if (!Knows(table.workers)) Begin(table.workers);
    TeamState& team = teams_[idle.team];
    const Bounds bounds = BoundsOf(idle.team, options_.range_of(idle.device.kind), table.workers);
    // Memory may have turned out to be less. That changes the size without a review.
    team.batch_size = std::clamp(team.batch_size, bounds.min, bounds.max);
    if (ReviewIsDue(idle.team, table.workers)) {
      Count(table.workers);
      Review(idle.team, bounds);
      AwaitReports(idle.team, table.workers);
    }
    return Assignment{.job = job.id, .batch_size = std::llround(team.batch_size)};
  }

  void Observe(const Outcome& outcome) override { reported_[outcome.worker] = 1; }

  void VisitState(StateVisitor& visitor) override {
    Visit(visitor, "teams", teams_);
    Visit(visitor, "holds", bound_counts_);
    Visit(visitor, "reported", reported_);
    // A checkpoint may have restored anything; without teams, Assign begins anew.
    if (bound_counts_.size() != teams_.size()) {
      teams_.resize(0);
      bound_counts_.resize(0);
    }
  }

  std::vector<BoundTeam> bound_teams() const override {
    double total = 0;
    for (const TeamState& team : teams_) total += team.count;
    std::vector<BoundTeam> all;
    for (const TeamId id : teams_.ids()) {
      const auto bound = bound_counts_[id].Report(id, teams_[id].count / total);
      all.insert(all.end(), bound.begin(), bound.end());
    }
    return all;
  }

 private:
  bool Knows(std::span<const WorkerState> workers) const {
    return bound_counts_.size() == teams_.size() && reported_.size() == workers.size() &&
           std::ranges::all_of(
               workers, [&](const WorkerState& worker) { return teams_.contains(worker.team); });
  }

  void Begin(std::span<const WorkerState> workers) {
    for (const WorkerState& worker : workers) {
      while (!teams_.contains(worker.team)) teams_.push_back({});
      const auto rows = static_cast<double>(InitialBatchSize(worker.device.kind));
      teams_[worker.team].batch_size = teams_[worker.team].initial_batch_size = rows;
    }
    bound_counts_.resize(teams_.size());
    reported_.resize(workers.size());
  }

  // A GPU begins with its smallest batch; a fast one grows within milliseconds. A large batch on a
  // slow GPU would be merged long after the others have moved the model on.
  std::int64_t InitialBatchSize(DeviceKind kind) const {
    return kind == DeviceKind::kCpu ? FixedBatchSize(options_, kind) : options_.gpu_batch.min;
  }

  bool ReviewIsDue(TeamId team, std::span<const WorkerState> workers) const {
    return std::all_of(workers.begin(), workers.end(), [&](const WorkerState& worker) {
      return worker.team != team || !worker.live || reported_[worker.id];
    });
  }

  void AwaitReports(TeamId team, std::span<const WorkerState> workers) {
    for (const WorkerState& worker : workers) {
      if (worker.team == team) reported_[worker.id] = 0;
    }
  }

  // Counts are cumulative. A CPU update counts beta, the share of it that survives concurrent
  // writes.
  void Count(std::span<const WorkerState> workers) {
    for (TeamState& team : teams_) team.count = team.speed = team.live = team.training = 0;
    for (const WorkerState& worker : workers) {
      TeamState& team = teams_[worker.team];
      const double weight = worker.device.kind == DeviceKind::kCpu ? own_.beta : 1;
      team.count += weight * static_cast<double>(worker.updates);
      team.has_begun = team.has_begun || worker.updates > 0;
      if (!worker.live) continue;
      ++team.live;
      team.training += worker.evaluations == 0 ? 1 : 0;
      const double seconds = worker.seconds_per_row * std::round(team.batch_size);
      if (seconds > 0) team.speed += weight / seconds;
    }
  }

  void Review(TeamId id, const Bounds& bounds) {
    if (!CanReview(teams_, id, own_.adapt_band)) return;
    TeamState& team = teams_[id];
    double wanted =
        team.batch_size * (own_.adapt_band == 0 ? PublishedFactor(teams_, id, own_.alpha)
                                                : DampedFactor(teams_, id, own_));
    // Rounding must not keep a size from returning exactly to its initial value.
    if (std::abs(wanted - team.initial_batch_size) < 1e-9 * wanted) {
      wanted = team.initial_batch_size;
    }
    team.batch_size = bound_counts_[id].Apply(wanted, bounds);
  }

  // not state: options_, own_
  AlgorithmOptions options_;
  AdaptiveOptions own_;
  TeamStates teams_;
  IndexedVector<TeamId, BoundCounts> bound_counts_;
  IndexedVector<WorkerId, int> reported_;  // 1: since the last review of its team
};

}  // namespace

AnyOptions MakeAdaptiveOptions() { return AdaptiveOptions(); }

std::unique_ptr<Algorithm> MakeAdaptiveHogbatch(const AlgorithmOptions& options) {
  return std::make_unique<AdaptiveHogbatch>(options);
}

}  // namespace hogbatch
