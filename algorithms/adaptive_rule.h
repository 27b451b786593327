// The rule of Adaptive Hogbatch as published: Y. Ma and F. Rusu, "Heterogeneous CPU+GPU Stochastic
// Gradient Descent Algorithms" (arXiv 2004.08771).
//
// What is known of it: the code that the authors published holds only the static algorithm, with
// fixed batch sizes. The rule here, and the defaults of alpha, beta and the batch ranges, follow
// the paper's description as far as we know it; they were not compared with the authors' program.
#pragma once

#include <cstdint>
#include <span>

#include "algorithms/adaptive_teams.h"

namespace hogbatch {

// What happens to a team's batch size.
enum class Change : std::uint8_t { kShrink, kStay, kGrow };

// A team that is behind every other team gets smaller and therefore faster updates; a team that is
// ahead of every other gets larger and slower ones. `team` is its count of updates since the run
// began, `others` are those of the other teams, at least one. Counts that differ by `band` or less
// are even; the paper has no band (0).
Change PublishedRule(double team, std::span<const double> others, double band);
// The same for `team`, one of `teams`. Another one must be live.
Change PublishedRule(const TeamStates& teams, const TeamState& team, double band);

// The factor by which the rule changes the batch size of teams[team]: 1 / alpha, 1 or alpha.
double PublishedFactor(const TeamStates& teams, TeamId team, double alpha);

}  // namespace hogbatch
