#include "compare/phases/side_speed.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hogbatch::compare {
namespace {

std::vector<const RunRecord*> Looks(const RunLog& log, const Side& side) {
  std::vector<const RunRecord*> runs = log.Of(Phase::kThroughput, side.name);
  std::erase_if(runs, [](const RunRecord* run) { return run->plan.repeat > 0 || !run->done(); });
  return runs;
}

}  // namespace

std::optional<SideSpeed> SpeedAt(const RunLog& log, const Side& side, std::int64_t batch) {
  std::optional<SideSpeed> speed;
  double nearest = std::numeric_limits<double>::infinity();
  for (const RunRecord* run : Looks(log, side)) {
    const double distance =
        std::abs(std::log(static_cast<double>(run->plan.batch) / static_cast<double>(batch)));
    const bool nearer = distance < nearest;
    const bool faster =
        distance == nearest && run->examples_per_second > speed->examples_per_second;
    if (!nearer && !faster) continue;
    nearest = distance;
    const double smaller =
        std::min(1.0, static_cast<double>(batch) / static_cast<double>(run->plan.batch));
    speed = {.variant = run->plan.variant,
             .examples_per_second = run->examples_per_second,
             .least_examples_per_second = smaller * run->examples_per_second};
  }
  return speed;
}

std::optional<SideCost> CostOf(const RunLog& log, const Side& side) {
  const std::vector<const RunRecord*> runs = Looks(log, side);
  if (runs.empty()) return std::nullopt;
  SideCost cost;
  const auto count = static_cast<double>(runs.size());
  for (const RunRecord* run : runs) {
    cost.overhead_seconds += std::max(0.0, run->wall_seconds - run->train_seconds) / count;
    // Such a run evaluates at its beginning and at its end.
    cost.evaluation_seconds += std::max(0.0, run->seconds - run->train_seconds) / 2 / count;
  }
  return cost;
}

}  // namespace hogbatch::compare
