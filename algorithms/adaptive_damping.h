// What hogbatch adds to the published rule so that batch sizes settle instead of swinging between
// their bounds. docs/algorithms.md gives the reasons and the measurements.
#pragma once

#include <cstddef>
#include <span>

#include "algorithms/adaptive_options.h"
#include "core/state_visitor.h"

namespace hogbatch {

// A team at the time of a review.
struct TeamState {
  double batch_size = 0;  // a real number, so that alpha need not be whole
  double initial_batch_size = 0;
  double count = 0;        // of updates since the run began, each weighted by beta on a CPU
  double speed = 0;        // counted updates per second; 0: not measured yet
  bool has_begun = false;  // has made an update, even if beta makes it count for nothing
  int live = 0;            // workers that have not failed
  int training = 0;        // live workers that are not evaluating

  // not state: count, speed, live, training (counted anew at every review)
  void VisitState(StateVisitor& visitor) {
    Visit(visitor, "batch_size", batch_size);
    Visit(visitor, "initial_batch_size", initial_batch_size);
    Visit(visitor, "has_begun", has_begun);
  }
};

// The factor by which the published rule changes the batch size of teams[team]: 1 / alpha, 1 or
// alpha. It needs another live team, and so does DampedFactor.
double PublishedFactor(std::span<const TeamState> teams, std::size_t team, double alpha);

// The same with damping:
// - Counts within the band are even.
// - Sizes stay while the gap between the counts closes by itself at the measured speeds.
// - A team moves away from its initial batch size only when the team on the other side cannot
//   return to its own instead.
// - A team between two others returns towards its initial batch size if that evens the shares.
double DampedFactor(std::span<const TeamState> teams, std::size_t team,
                    const AdaptiveOptions& options);

// Whether teams[team] can be compared with the others: one of them is live, none only evaluates
// and, with a band, all have begun. Otherwise a team that is only busy with something else would
// look slow.
bool CanReview(std::span<const TeamState> teams, std::size_t team, double band);

}  // namespace hogbatch
