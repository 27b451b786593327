#include "algorithms/adaptive_bounds.h"

#include <algorithm>
#include <cmath>

namespace hogbatch {

using By = BoundTeam::By;

Bounds BoundsOf(TeamId team, const BatchRange& range, std::span<const WorkerState> workers) {
  std::int64_t max = range.max;
  for (const WorkerState& worker : workers) {
    if (worker.team != team || !worker.live || worker.max_batch_size == 0) continue;
    max = std::min(max, worker.max_batch_size);
  }
  return {.min = static_cast<double>(std::min(range.min, max)),
          .max = static_cast<double>(max),
          .at_max = max < range.max ? By::kMemory : By::kMax};
}

double BoundCounts::Apply(double wanted, const Bounds& bounds) {
  ++reviews_;
  const double allowed = std::clamp(wanted, bounds.min, bounds.max);
  if (allowed != wanted) {
    Count& count = by_[wanted < allowed ? By::kMin : bounds.at_max];
    ++count.reviews;
    count.batch_size = allowed;
  }
  return allowed;
}

std::vector<BoundTeam> BoundCounts::Report(TeamId team, double count_share) const {
  std::vector<BoundTeam> bound;
  for (const By by : {By::kMin, By::kMax, By::kMemory}) {
    const Count& count = by_[by];
    if (count.reviews == 0) continue;
    bound.push_back(
        {.team = team,
         .by = by,
         .batch_size = std::llround(count.batch_size),
         .share_of_reviews = static_cast<double>(count.reviews) / static_cast<double>(reviews_),
         .count_share = count_share});
  }
  return bound;
}

}  // namespace hogbatch
