#include "algorithms/adaptive_rule.h"

#include <algorithm>
#include <vector>

namespace hogbatch {

Change PublishedRule(double team, std::span<const double> others, double band) {
  if (team < std::ranges::min(others) - band) return Change::kShrink;
  if (team > std::ranges::max(others) + band) return Change::kGrow;
  return Change::kStay;
}

Change PublishedRule(const TeamStates& teams, const TeamState& team, double band) {
  std::vector<double> counts;
  for (const TeamState* other : LiveOthers(teams, team)) counts.push_back(other->count);
  return PublishedRule(team.count, counts, band);
}

double PublishedFactor(const TeamStates& teams, TeamId team, double alpha) {
  const Change change = PublishedRule(teams, teams[team], 0);
  return change == Change::kShrink ? 1 / alpha : change == Change::kGrow ? alpha : 1;
}

}  // namespace hogbatch
