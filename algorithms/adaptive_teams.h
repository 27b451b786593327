// The teams of Adaptive Hogbatch at the time of a review, for the rules that judge them.
#pragma once

#include <vector>

#include "core/ids.h"
#include "core/indexed_vector.h"
#include "core/state_visitor.h"

namespace hogbatch {

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

using TeamStates = IndexedVector<TeamId, TeamState>;

// All live teams but `team`, which is one of `teams`. Failed teams are left out of a comparison:
// they would never catch up.
std::vector<const TeamState*> LiveOthers(const TeamStates& teams, const TeamState& team);

// Whether teams[team] can be compared with the others: one of them is live, none only evaluates
// and, with a band, all have begun. Otherwise a team that is only busy with something else would
// look slow.
bool CanReview(const TeamStates& teams, TeamId team, double band);

}  // namespace hogbatch
