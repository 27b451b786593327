#include <algorithm>
#include <iterator>
#include <utility>

#include "compare/phases/phases.h"

namespace hogbatch::compare {
namespace {

constexpr double kFirstMeasurementShare = 0.4;  // of the time for throughput

RunPlan SpeedRun(const SpeedCell& cell, const ComparePlan& plan, std::int64_t round,
                 double extra_seconds) {
  // With the smallest rate: a loss that is no longer finite would change the speed.
  return {.phase = Phase::kThroughput,
          .side = cell.side,
          .variant = cell.variant,
          .batch = cell.batch,
          .lr = plan.lrs.front(),
          .seed = 1,
          .round = round,
          .seconds = plan.throughput_seconds,
          .epochs = 0,
          .eval_every = 0,
          .extra_seconds = extra_seconds,
          .stop = {}};
}

// The cells that are worth repeating, after a look at each.
std::vector<SpeedCell> MeasureOnce(Bench& bench, const ComparePlan& plan,
                                   const std::vector<SpeedCell>& cells) {
  std::vector<FirstMeasurement> looks;
  for (const SpeedCell& cell : cells) {
    // hogbatch evaluates while it begins to train, and has some time left after that.
    const RunRecord* run = bench.Do(SpeedRun(cell, plan, 0, plan.throughput_seconds / 2));
    // A run that ended well took part, even where it was too short to count an example.
    if (run) looks.push_back({cell, run->done() ? std::max(run->examples_per_second, 1e-9) : 0});
  }
  return WorthRepeating(looks);
}

// hogbatch evaluates beside training, on at most half of the workers. Time until that is over, so
// that undisturbed time follows.
double TimeOfEvaluation(const Bench& bench, const ComparePlan& plan, const SpeedCell& cell) {
  const RunRecord* look = bench.log().Find(SpeedRun(cell, plan, 0, 0));
  return look ? 2 * std::max(0.0, look->seconds - look->train_seconds) : 0;
}

double RepeatSeconds(const Bench& bench, const ComparePlan& plan,
                     const std::vector<SpeedCell>& cells) {
  double sum = 0;
  for (const SpeedCell& cell : cells) {
    if (const RunRecord* run = bench.log().Find(SpeedRun(cell, plan, 0, 0))) {
      sum += run->wall_seconds + TimeOfEvaluation(bench, plan, cell);
    }
  }
  return sum;
}

// What the first looks at these cells took.
double MeasureSeconds(const Bench& bench, const ComparePlan& plan,
                      const std::vector<SpeedCell>& cells) {
  double sum = 0;
  for (const SpeedCell& cell : cells) {
    const RunRecord* run = bench.log().Find(SpeedRun(cell, plan, 0, 0));
    if (run) sum += run->wall_seconds;
  }
  return sum;
}

struct FirstMeasurements {
  std::vector<std::vector<SpeedCell>> repeated;  // cells, by batch size
  double seconds = 0;
};

// Looks at one batch size after the other, as long as there is time.
FirstMeasurements MeasureBatches(Bench& bench, const ComparePlan& plan, double budget) {
  const double later = plan.budget_seconds - budget;
  FirstMeasurements looked;
  for (const std::int64_t batch : plan.batches) {
    if (looked.seconds > kFirstMeasurementShare * budget) break;
    const std::vector<SpeedCell> cells = SpeedCells(bench.sides(), batch);
    bench.Expect("first look", cells.size(), later + budget - looked.seconds);
    std::vector<SpeedCell> worth = MeasureOnce(bench, plan, cells);
    const auto in_flight = InFlight(worth, bench.sides(), bench.setting().threads);
    bench.Expect("first look, in flight", in_flight.size(), later + budget - looked.seconds);
    std::ranges::move(MeasureOnce(bench, plan, in_flight), std::back_inserter(worth));
    looked.repeated.push_back(std::move(worth));
    looked.seconds += MeasureSeconds(bench, plan, cells) + MeasureSeconds(bench, plan, in_flight);
  }
  return looked;
}

}  // namespace

void MeasureThroughput(Bench& bench, const ComparePlan& plan) {
  const double budget =
      plan.trains ? BudgetShares().throughput * plan.budget_seconds : plan.budget_seconds;
  const FirstMeasurements looked = MeasureBatches(bench, plan, budget);
  std::vector<std::vector<SpeedCell>> repeated = looked.repeated;
  const double left = budget - looked.seconds;
  const std::int64_t wanted = plan.rounds - 1;  // a first look is a round, too
  const auto rounds = static_cast<double>(wanted);
  double round_seconds = 0;
  std::size_t kept = 0;
  std::size_t runs = 0;
  for (const std::vector<SpeedCell>& cells : repeated) {
    const double more = RepeatSeconds(bench, plan, cells);
    if (kept > 0 && rounds * (round_seconds + more) > left) break;
    round_seconds += more;
    ++kept;
    runs += cells.size();
  }
  repeated.resize(kept);
  const std::int64_t affordable = RoundsWithin(left, round_seconds, wanted);
  bench.Expect("throughput", runs * affordable, plan.budget_seconds - budget);
  for (std::int64_t round = 1; round <= affordable; ++round) {
    for (const std::vector<SpeedCell>& cells : repeated) {
      for (const SpeedCell& cell : Rotated(cells, round)) {
        bench.Do(SpeedRun(cell, plan, round, TimeOfEvaluation(bench, plan, cell)));
      }
    }
  }
}

}  // namespace hogbatch::compare
