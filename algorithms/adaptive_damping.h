// What hogbatch adds to the published rule so that batch sizes settle instead of swinging between
// their bounds. docs/algorithms.md gives the reasons and the measurements.
#pragma once

#include "algorithms/adaptive_options.h"
#include "algorithms/adaptive_teams.h"

namespace hogbatch {

// The factor by which the batch size of teams[team] changes: that of PublishedFactor with damping.
// - Counts within the band are even.
// - Sizes stay while the gap between the counts closes by itself at the measured speeds.
// - A team moves away from its initial batch size only when the team on the other side cannot
//   return to its own instead.
// - A team between two others returns towards its initial batch size if that evens the shares.
double DampedFactor(const TeamStates& teams, TeamId team, const AdaptiveOptions& options);

}  // namespace hogbatch
