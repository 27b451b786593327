#include "algorithms/adaptive_teams.h"

#include <algorithm>

namespace hogbatch {

std::vector<const TeamState*> LiveOthers(const TeamStates& teams, const TeamState& team) {
  std::vector<const TeamState*> others;
  for (const TeamState& other : teams) {
    if (&other != &team && other.live > 0) others.push_back(&other);
  }
  return others;
}

bool CanReview(const TeamStates& teams, TeamId team, double band) {
  const auto others = LiveOthers(teams, teams[team]);
  return !others.empty() && std::ranges::all_of(others, [&](const TeamState* other) {
    return other->training > 0 && (other->has_begun || band == 0);
  });
}

}  // namespace hogbatch
