#include <algorithm>
#include <map>

#include "compare/phases/phases.h"

namespace hogbatch::compare {
namespace {

constexpr double kFirstLookShare = 0.4;  // of the time for throughput

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

// A batch size with a first look at each of its cells.
struct Looked {
  std::vector<FirstLook> looks;
  double seconds = 0;  // of all of them
};

Looked LookAt(Bench& bench, const ComparePlan& plan, std::int64_t batch) {
  Looked looked;
  for (const SpeedCell& cell : SpeedCells(bench.sides(), batch, bench.setting().threads)) {
    const RunRecord* run = bench.Do(SpeedRun(cell, plan, 0, 0));
    if (!run) continue;
    looked.looks.push_back({cell, run->done() ? run->examples_per_second : 0});
    looked.seconds += run->wall_seconds;
  }
  return looked;
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

}  // namespace

void MeasureThroughput(Bench& bench, const ComparePlan& plan) {
  const BudgetShares shares;
  const double budget = shares.throughput * plan.budget_seconds;
  const double later = plan.budget_seconds - budget;
  std::vector<std::vector<SpeedCell>> repeated;  // by batch size
  double spent = 0;
  for (const std::int64_t batch : plan.batches) {
    if (spent > kFirstLookShare * budget) break;
    const std::size_t cells = SpeedCells(bench.sides(), batch, bench.setting().threads).size();
    bench.Expect("first look", cells, later + budget - spent);
    const Looked looked = LookAt(bench, plan, batch);
    spent += looked.seconds;
    repeated.push_back(WorthRepeating(looked.looks));
  }
  const auto rounds = static_cast<double>(plan.rounds);
  double needed = 0;
  std::size_t kept = 0;
  std::size_t runs = 0;
  for (const std::vector<SpeedCell>& cells : repeated) {
    needed += rounds * RepeatSeconds(bench, plan, cells);
    if (kept > 0 && needed > budget - spent) break;
    ++kept;
    runs += cells.size();
  }
  repeated.resize(kept);
  bench.Expect("throughput", runs * static_cast<std::size_t>(plan.rounds), later);
  for (std::int64_t round = 1; round <= plan.rounds; ++round) {
    for (const std::vector<SpeedCell>& cells : repeated) {
      for (const SpeedCell& cell : Rotated(cells, round)) {
        bench.Do(SpeedRun(cell, plan, round, TimeOfEvaluation(bench, plan, cell)));
      }
    }
  }
}

}  // namespace hogbatch::compare
