// The bounds of a team's batch size, and how often they kept it from the wanted size.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/batch_range.h"
#include "core/indexed_vector.h"
#include "runtime/control/algorithm.h"

namespace hogbatch {

struct Bounds {
  double min = 0;
  double max = 0;
  BoundTeam::By at_max = BoundTeam::By::kMax;  // what sets the maximum
};

// The present bounds: the range of the kind of device, reduced to what fits the team's live worker
// with the least memory. Memory overrides even the minimum of the range.
Bounds BoundsOf(TeamId team, const BatchRange& range, std::span<const WorkerState> workers);

// What the bounds did to one team.
class BoundCounts {
 public:
  // Counts a review. Returns the wanted batch size, moved into the bounds.
  double Apply(double wanted, const Bounds& bounds);
  // One entry for each bound that held the team; count_share is passed through.
  std::vector<BoundTeam> Report(TeamId team, double count_share) const;

  void VisitState(StateVisitor& visitor) {
    Visit(visitor, "by", by_.items());
    Visit(visitor, "reviews", reviews_);
  }

 private:
  struct Count {
    std::int64_t reviews = 0;
    double batch_size = 0;  // where it held the team last

    void VisitState(StateVisitor& visitor) {
      Visit(visitor, "reviews", reviews);
      Visit(visitor, "batch_size", batch_size);
    }
  };
  IndexedArray<BoundTeam::By, Count, 3> by_;
  std::int64_t reviews_ = 0;
};

}  // namespace hogbatch
