// Adaptive Hogbatch: Hogbatch whose rows per update follow the counts of updates, so that no team
// drowns the others. A team whose count is below every other team's gets rows / alpha, smaller and
// faster updates; one above every other's gets rows * alpha; within the range of its kind of device
// and what its memory holds.
//
// A round of a team is over when each of its live workers has reported since the round began. The
// first request after that is judged, once: the size shrinks, grows or, where the counts are near
// enough, stays, and in any case the next round begins. Between two changes each live worker has
// thus reported at least once. A rule applied at every request would judge many times by the same
// reports, and overshoot from one bound to the other.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "algorithms/table.h"
#include "algorithms/task_length.h"

namespace hogbatch {
namespace {

using By = HeldTeam::By;

constexpr std::array kBounds = {By::kMin, By::kMax, By::kMemory};

struct Team {
  double rows = 0;          // per update, rounded when used, so that alpha need not be whole
  double count = 0;         // of updates, and
  int live = 0;             // workers, and
  int training = 0;         // those of them that do not evaluate, as of the latest judgement
  std::int64_t judged = 0;  // rounds
  // Rounds in which a bound forbade a change or cut it short, and where it did last.
  struct Hold {
    std::int64_t rounds = 0;
    double rows = 0;
  };
  std::array<Hold, kBounds.size()> holds = {};  // by each bound
};

// What the size of a team may be at the moment. Memory goes before the range.
struct Bounds {
  double min = 0;
  double max = 0;
  By at_max = By::kMax;
};

// The counts of updates that one team is judged by.
struct Standing {
  double own = 0;
  double least_other = std::numeric_limits<double>::infinity();
  double most_other = -std::numeric_limits<double>::infinity();
  double total = 0;
  bool somebody_evaluates = false;
  bool has_rival() const { return least_other <= most_other; }
};

class AdaptiveHogbatch : public Algorithm {
 public:
  explicit AdaptiveHogbatch(const AlgorithmOptions& options) : options_(options) {}

  // Looks at every worker once or twice, for a task of 20 ms.
  std::optional<Assignment> Assign(const WorkerState& idle, const JobTable& table) override {
    const JobState& job = table.jobs.front();
    if (job.remaining_rows == 0) return std::nullopt;  // nothing to choose a size for
    if (teams_.empty()) Begin(table.workers);
    Team& team = teams_[static_cast<std::size_t>(idle.team)];
    const Bounds bounds = BoundsOf(idle, table.workers);
    // Memory may have turned out to be less. That is no change by the rule, and begins no round.
    team.rows = std::clamp(team.rows, bounds.min, bounds.max);
    if (RoundIsOver(idle.team, table.workers)) {
      Judge(team, StandingOf(idle.team, table.workers), bounds);
      BeginRound(idle.team, table.workers);
    }
    const std::int64_t rows = std::llround(team.rows);
    return Assignment{
        .job = job.id, .update_rows = rows, .updates = length_.Updates(idle.id, rows, table)};
  }

  void Observe(const Outcome& outcome) override {
    reported_[static_cast<std::size_t>(outcome.worker)] = true;
    length_.Observe(outcome);
  }

  std::vector<HeldTeam> held_teams() const override {
    std::vector<HeldTeam> all;
    for (std::size_t i = 0; i < teams_.size(); ++i) {
      for (const By by : kBounds) {
        const Team::Hold& hold = teams_[i].holds[static_cast<std::size_t>(by)];
        if (hold.rounds == 0) continue;
        const auto judged = static_cast<double>(teams_[i].judged);
        all.push_back({.team = static_cast<int>(i),
                       .by = by,
                       .rows = std::llround(hold.rows),
                       .share_of_rounds = static_cast<double>(hold.rounds) / judged});
      }
    }
    return all;
  }

 private:
  void Begin(std::span<const WorkerState> workers) {
    for (const WorkerState& worker : workers) {
      const auto index = static_cast<std::size_t>(worker.team);
      if (teams_.size() <= index) teams_.resize(index + 1);
      teams_[index].rows = static_cast<double>(FirstRows(worker.device.kind));
    }
    reported_.resize(workers.size(), false);
  }

  // A GPU begins with its smallest batch and grows from there in no time if it is fast. A large one
  // on a slow GPU would be merged when the others have long trained the model it was made from.
  std::int64_t FirstRows(DeviceKind kind) const {
    return kind == DeviceKind::kCpu ? FixedRows(options_, kind) : options_.gpu_batch.min;
  }

  Bounds BoundsOf(const WorkerState& member, std::span<const WorkerState> workers) const {
    const BatchRange& range =
        member.device.kind == DeviceKind::kCpu ? options_.cpu_batch : options_.gpu_batch;
    std::int64_t max = range.max;
    for (const WorkerState& worker : workers) {
      if (worker.team != member.team || !worker.live || worker.most_rows == 0) continue;
      max = std::min(max, worker.most_rows);
    }
    return {.min = static_cast<double>(std::min(range.min, max)),
            .max = static_cast<double>(max),
            .at_max = max < range.max ? By::kMemory : By::kMax};
  }

  bool RoundIsOver(int team, std::span<const WorkerState> workers) const {
    return std::all_of(workers.begin(), workers.end(), [&](const WorkerState& worker) {
      return worker.team != team || !worker.live || reported_[static_cast<std::size_t>(worker.id)];
    });
  }

  void BeginRound(int team, std::span<const WorkerState> workers) {
    for (const WorkerState& worker : workers) {
      if (worker.team == team) reported_[static_cast<std::size_t>(worker.id)] = false;
    }
  }

  // Counts are cumulative. A CPU update counts beta: so much of it survives the others' writes. A
  // team without a live worker is no longer compared with, or it would be waited for.
  Standing StandingOf(int judged, std::span<const WorkerState> workers) {
    for (Team& team : teams_) team.count = team.live = team.training = 0;
    for (const WorkerState& worker : workers) {
      Team& team = teams_[static_cast<std::size_t>(worker.team)];
      const double weight = worker.device.kind == DeviceKind::kCpu ? options_.beta : 1;
      team.count += weight * static_cast<double>(worker.updates);
      team.live += worker.live ? 1 : 0;
      team.training += worker.live && worker.evaluations == 0 ? 1 : 0;
    }
    Standing standing{.own = teams_[static_cast<std::size_t>(judged)].count};
    for (const Team& team : teams_) {
      standing.total += team.count;
      if (&team == &teams_[static_cast<std::size_t>(judged)] || team.live == 0) continue;
      standing.somebody_evaluates |= team.training == 0;
      standing.least_other = std::min(standing.least_other, team.count);
      standing.most_other = std::max(standing.most_other, team.count);
    }
    return standing;
  }

  void Judge(Team& team, const Standing& standing, const Bounds& bounds) const {
    // A whole team that evaluates stands still for no lack of speed: nobody is to run ahead of it.
    if (!standing.has_rival() || standing.somebody_evaluates) return;
    ++team.judged;
    const double band = options_.adapt_band * standing.total;
    double wanted = team.rows;
    if (standing.own < standing.least_other - band) wanted /= options_.alpha;
    if (standing.own > standing.most_other + band) wanted *= options_.alpha;
    const double allowed = std::clamp(wanted, bounds.min, bounds.max);
    if (allowed != wanted) {
      const By by = wanted < allowed ? By::kMin : bounds.at_max;
      Team::Hold& hold = team.holds[static_cast<std::size_t>(by)];
      ++hold.rounds;
      hold.rows = allowed;
    }
    team.rows = allowed;
  }

  AlgorithmOptions options_;
  TaskLength length_;
  std::vector<Team> teams_;
  std::vector<bool> reported_;  // each worker, since its team's round began
};

}  // namespace

std::unique_ptr<Algorithm> MakeAdaptiveHogbatch(const AlgorithmOptions& options) {
  return std::make_unique<AdaptiveHogbatch>(options);
}

}  // namespace hogbatch
