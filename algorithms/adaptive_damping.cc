#include "algorithms/adaptive_damping.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "algorithms/adaptive_rule.h"

namespace hogbatch {
namespace {

// A gap between two teams closes by itself if it disappears before the two have made this share of
// their updates again,
constexpr double kSoon = 0.25;
// or if this share of their new updates goes into closing it. (If one of two equal teams becomes
// half as fast, it is a third.)
constexpr double kFast = 0.2;
// A gap of less than this share of all updates is small.
constexpr double kSmall = 0.05;

const TeamState& MostUpdates(const std::vector<const TeamState*>& teams) {
  return **std::ranges::max_element(teams, {}, &TeamState::count);
}

const TeamState& FewestUpdates(const std::vector<const TeamState*>& teams) {
  return **std::ranges::min_element(teams, {}, &TeamState::count);
}

double TotalCount(const TeamStates& teams) {
  double total = 0;
  for (const TeamState& team : teams) total += team.count;
  return total;
}

// Whether sizes should stay although `ahead` has made more updates than `behind`: the gap closes by
// itself, or it is small and the two are closer in speed than another change would leave them.
bool IsLeftAlone(const TeamState& ahead, const TeamState& behind, double total, double alpha) {
  if (ahead.speed == 0 || behind.speed == 0) return false;
  // Relative to these two: a third team neither opens nor closes their gap, however fast it is.
  const double gap = (ahead.count - behind.count) / (ahead.count + behind.count);
  const double closing = (behind.speed - ahead.speed) / (behind.speed + ahead.speed);
  if (closing >= std::min(gap / kSoon, kFast)) return true;
  const bool is_small = (ahead.count - behind.count) / total < kSmall;
  return is_small && ahead.speed < behind.speed * std::cbrt(alpha);
}

// The published rule never changes a team between two others. One that was ahead of all for a
// moment would keep its large batches for good. Here it returns towards its initial batch size, at
// most to it, if that brings its count closer to an equal share.
double ReturnTowardsStart(const TeamStates& teams, const TeamState& team,
                          const AdaptiveOptions& options) {
  const auto others = LiveOthers(teams, team);
  const double total = TotalCount(teams), band = options.adapt_band * total;
  const double surplus = team.count - total / static_cast<double>(teams.size());
  const double back = team.initial_batch_size / team.batch_size;
  if (surplus < -band && back < 1 &&
      !IsLeftAlone(MostUpdates(others), team, total, options.alpha)) {
    return std::max(back, 1 / options.alpha);
  }
  if (surplus > band && back > 1 &&
      !IsLeftAlone(team, FewestUpdates(others), total, options.alpha)) {
    return std::min(back, options.alpha);
  }
  return 1;
}

// What would be done with the team if no other team had to move first.
double FactorAlone(const TeamStates& teams, const TeamState& team, const AdaptiveOptions& options) {
  const auto others = LiveOthers(teams, team);
  const double total = TotalCount(teams);
  switch (PublishedRule(teams, team, options.adapt_band * total)) {
    case Change::kShrink:
      return IsLeftAlone(MostUpdates(others), team, total, options.alpha) ? 1 : 1 / options.alpha;
    case Change::kGrow:
      return IsLeftAlone(team, FewestUpdates(others), total, options.alpha) ? 1 : options.alpha;
    case Change::kStay:
      break;
  }
  return ReturnTowardsStart(teams, team, options);
}

// If teams answered growth by growth, their sizes would stay even and become ever larger. So before
// a team moves away from its initial batch size, the opposite team must return to its own.
bool OtherTeamShouldReturnFirst(const TeamStates& teams, const TeamState& team, double factor,
                                const AdaptiveOptions& options) {
  const auto others = LiveOthers(teams, team);
  if (factor > 1) {
    const TeamState& behind = FewestUpdates(others);
    return team.batch_size >= team.initial_batch_size &&
           behind.batch_size > behind.initial_batch_size && FactorAlone(teams, behind, options) < 1;
  }
  if (factor < 1) {
    const TeamState& ahead = MostUpdates(others);
    return team.batch_size <= team.initial_batch_size &&
           ahead.batch_size < ahead.initial_batch_size && FactorAlone(teams, ahead, options) > 1;
  }
  return false;
}

}  // namespace

double DampedFactor(const TeamStates& teams, TeamId team, const AdaptiveOptions& options) {
  const double factor = FactorAlone(teams, teams[team], options);
  return OtherTeamShouldReturnFirst(teams, teams[team], factor, options) ? 1 : factor;
}

}  // namespace hogbatch
