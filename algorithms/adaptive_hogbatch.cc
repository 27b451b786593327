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
//
// Counts are sums over the run, and a gap between them outlasts its cause: by the time it is gone,
// a rule that looks at the gap alone has changed sizes far beyond what makes the teams equally
// fast, and the other way next. With a band, sizes therefore stay while the gap closes well enough
// at the speeds last measured; and no team's size leaves where it began as long as that of the team
// on the other side can come back to where it did. If teams answered growth by growth, sizes would
// climb from pair to pair that are equally even and ever larger. And a team that is neither first
// nor last comes back to where it began, too. A band of 0 is the paper's rule.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "algorithms/table.h"

namespace hogbatch {
namespace {

using By = HeldTeam::By;

constexpr std::array kBounds = {By::kMin, By::kMax, By::kMemory};

struct Team {
  double rows = 0;          // per update, rounded when used, so that alpha need not be whole
  double first_rows = 0;    // that it began with
  double count = 0;         // of updates
  bool has_begun = false;   // it has made an update, whatever that counts
  int live = 0;             // workers, and
  int training = 0;         // those of them that do not evaluate, as of the latest judgement
  double speed = 0;         // in counted updates per second
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

// When a gap between two teams is left alone: it will be gone before the updates that the two have
// made so far have grown by this part;
constexpr double kSoon = 0.25;
// or this part of what they make goes into closing it (if one of two even teams is made half as
// fast, a third does);
constexpr double kFast = 0.2;
// or it is less than this part of all updates, and the teams are clearly nearer to equally fast
// than a change would leave them.
constexpr double kSmall = 0.05;

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
      Count(table.workers);
      Judge(team, bounds);
      BeginRound(idle.team, table.workers);
    }
    return Assignment{.job = job.id, .batch_size = std::llround(team.rows)};
  }

  void Observe(const Outcome& outcome) override {
    reported_[static_cast<std::size_t>(outcome.worker)] = true;
  }

  std::vector<HeldTeam> held_teams() const override {
    std::vector<HeldTeam> all;
    double count = 0;
    for (const Team& team : teams_) count += team.count;
    for (std::size_t i = 0; i < teams_.size(); ++i) {
      for (const By by : kBounds) {
        const Team::Hold& hold = teams_[i].holds[static_cast<std::size_t>(by)];
        if (hold.rounds == 0) continue;
        const auto judged = static_cast<double>(teams_[i].judged);
        all.push_back({.team = static_cast<int>(i),
                       .by = by,
                       .rows = std::llround(hold.rows),
                       .share_of_rounds = static_cast<double>(hold.rounds) / judged,
                       .count_share = teams_[i].count / count});
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
      teams_[index].first_rows = teams_[index].rows;
    }
    reported_.resize(workers.size(), false);
  }

  // A GPU begins with its smallest batch and grows from there in no time if it is fast. A large one
  // on a slow GPU would be merged when the others have long trained the model it was made from.
  std::int64_t FirstRows(DeviceKind kind) const {
    return kind == DeviceKind::kCpu ? FixedBatchSize(options_, kind) : options_.gpu_batch.min;
  }

  Bounds BoundsOf(const WorkerState& member, std::span<const WorkerState> workers) const {
    const BatchRange& range =
        member.device.kind == DeviceKind::kCpu ? options_.cpu_batch : options_.gpu_batch;
    std::int64_t max = range.max;
    for (const WorkerState& worker : workers) {
      if (worker.team != member.team || !worker.live || worker.max_batch_size == 0) continue;
      max = std::min(max, worker.max_batch_size);
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

  // Counts are cumulative. A CPU update counts beta: so much of it survives the others' writes.
  void Count(std::span<const WorkerState> workers) {
    for (Team& team : teams_) team.count = team.speed = team.live = team.training = 0;
    for (const WorkerState& worker : workers) {
      Team& team = teams_[static_cast<std::size_t>(worker.team)];
      const double weight = worker.device.kind == DeviceKind::kCpu ? options_.beta : 1;
      team.count += weight * static_cast<double>(worker.updates);
      team.has_begun = team.has_begun || worker.updates > 0;
      if (!worker.live) continue;
      ++team.live;
      team.training += worker.evaluations == 0 ? 1 : 0;
      const double seconds = worker.seconds_per_row * std::round(team.rows);
      if (seconds > 0) team.speed += weight / seconds;
    }
  }

  // The team it is compared with: the one with the most updates of the others, or with the fewest.
  // One without a live worker is no longer compared with, or it would be waited for.
  const Team* Rival(const Team& judged, bool with_most) const {
    const Team* rival = nullptr;
    for (const Team& team : teams_) {
      if (&team == &judged || team.live == 0) continue;
      if (!rival || (with_most ? team.count > rival->count : team.count < rival->count)) {
        rival = &team;
      }
    }
    return rival;
  }

  // A whole team that evaluates stands still for no lack of speed: nobody is to run ahead of it.
  // Nor of one that is only to begin, as after the evaluation of the starting model; when its speed
  // is known it will be seen whether the gap closes by itself.
  bool SomebodyElseStands(const Team& judged) const {
    return std::ranges::any_of(teams_, [&](const Team& team) {
      const bool is_to_begin = options_.adapt_band > 0 && !team.has_begun;
      return &team != &judged && team.live > 0 && (team.training == 0 || is_to_begin);
    });
  }

  // Whether sizes had better stay although the teams with the most and the fewest updates are
  // apart.
  bool IsLeftAlone(const Team& first, const Team& last, double total) const {
    if (first.speed == 0 || last.speed == 0) return false;  // not measured yet
    // Of what the two make: a third team, be it ever so fast, neither opens nor closes their gap.
    const double apart = (first.count - last.count) / (first.count + last.count);
    const double pace = (last.speed - first.speed) / (last.speed + first.speed);
    if (pace >= std::min(apart / kSoon, kFast)) return true;
    const double gap = (first.count - last.count) / total;
    return gap < kSmall && first.speed < last.speed * std::cbrt(options_.alpha);
  }

  // What the size of a team with a rival is to be multiplied by, if others do not go first.
  double Verdict(const Team& team) const {
    double total = 0;
    for (const Team& any : teams_) total += any.count;
    const double band = options_.adapt_band * total;
    const Team &last = *Rival(team, false), &first = *Rival(team, true);
    const bool at_once = options_.adapt_band == 0;
    if (team.count < last.count - band) {
      return at_once || !IsLeftAlone(first, team, total) ? 1 / options_.alpha : 1;
    }
    if (team.count > first.count + band) {
      return at_once || !IsLeftAlone(team, last, total) ? options_.alpha : 1;
    }
    return at_once ? 1 : ReturnTowardsStart(team, {.first = first, .last = last}, total);
  }

  struct Rivals {
    const Team &first, &last;
  };

  // By the letter a team between two others never changes: one that was ahead of all for a moment
  // would keep its large batches for good. It comes back to where it began if that brings it nearer
  // to an equal share.
  double ReturnTowardsStart(const Team& team, const Rivals& rivals, double total) const {
    const double ahead = team.count - total / static_cast<double>(teams_.size());
    const double band = options_.adapt_band * total, back = team.first_rows / team.rows;
    if (ahead < -band && back < 1 && !IsLeftAlone(rivals.first, team, total)) {
      return std::max(back, 1 / options_.alpha);
    }
    if (ahead > band && back > 1 && !IsLeftAlone(team, rivals.last, total)) {
      return std::min(back, options_.alpha);
    }
    return 1;
  }

  // Whether a change leads away from where a team began, and the team on the other side could come
  // back instead.
  bool OtherTeamShouldReturnFirst(double factor, const Team& team) const {
    if (options_.adapt_band == 0 || factor == 1) return false;
    const bool grows = factor > 1;
    const Team& other = *Rival(team, !grows);
    if (grows)
      return team.rows >= team.first_rows && other.rows > other.first_rows && Verdict(other) < 1;
    return team.rows <= team.first_rows && other.rows < other.first_rows && Verdict(other) > 1;
  }

  void Judge(Team& team, const Bounds& bounds) const {
    if (!Rival(team, true) || SomebodyElseStands(team)) return;
    ++team.judged;
    double factor = Verdict(team);
    if (OtherTeamShouldReturnFirst(factor, team)) factor = 1;
    double wanted = factor * team.rows;
    // Rounding must not keep a size from being back where it began.
    if (std::abs(wanted - team.first_rows) < 1e-9 * wanted) wanted = team.first_rows;
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
  std::vector<Team> teams_;
  std::vector<bool> reported_;  // each worker, since its team's round began
};

}  // namespace

std::unique_ptr<Algorithm> MakeAdaptiveHogbatch(const AlgorithmOptions& options) {
  return std::make_unique<AdaptiveHogbatch>(options);
}

}  // namespace hogbatch
