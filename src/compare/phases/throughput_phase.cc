#include <algorithm>
#include <iterator>
#include <utility>

#include "compare/phases/phases.h"

namespace hogbatch::compare {
namespace {

constexpr double kFirstMeasurementShare = 0.4;  // of the time for throughput

RunPlan SpeedRun(const SpeedCell& cell, const ComparePlan& plan, std::int64_t repeat,
                 double extra_seconds) {
  // With the smallest rate: a loss that is no longer finite would change the speed.
  return {.phase = Phase::kThroughput,
          .side = cell.side,
          .variant = cell.variant,
          .batch = cell.batch,
          .lr = plan.lrs.front(),
          .seed = 1,
          .repeat = repeat,
          .seconds = plan.throughput_seconds,
          .epochs = 0,
          .eval_every = 0,
          .extra_seconds = extra_seconds,
          .stop = {}};
}

// The cells that are worth repeating, after a measurement of each.
std::vector<SpeedCell> MeasureOnce(RunSchedule& schedule, const ComparePlan& plan,
                                   const std::vector<SpeedCell>& cells) {
  std::vector<FirstMeasurement> first;
  for (const SpeedCell& cell : cells) {
    // hogbatch evaluates while it begins to train, and has some time left after that.
    const RunRecord* run = schedule.Do(SpeedRun(cell, plan, 0, plan.throughput_seconds / 2));
    // A run that ended well took part, even where it was too short to count an example.
    if (run) first.push_back({cell, run->done() ? std::max(run->examples_per_second, 1e-9) : 0});
  }
  return WorthRepeating(first);
}

// hogbatch evaluates beside training, on at most half of the workers. Time until that is over, so
// that undisturbed time follows.
double TimeOfEvaluation(const RunSchedule& schedule, const ComparePlan& plan,
                        const SpeedCell& cell) {
  const RunRecord* first = schedule.log().Find(SpeedRun(cell, plan, 0, 0));
  return first ? 2 * std::max(0.0, first->seconds - first->train_seconds) : 0;
}

double RepeatSeconds(const RunSchedule& schedule, const ComparePlan& plan,
                     const std::vector<SpeedCell>& cells) {
  double sum = 0;
  for (const SpeedCell& cell : cells) {
    if (const RunRecord* run = schedule.log().Find(SpeedRun(cell, plan, 0, 0))) {
      sum += run->wall_seconds + TimeOfEvaluation(schedule, plan, cell);
    }
  }
  return sum;
}

// What the first measurements of these cells took.
double MeasureSeconds(const RunSchedule& schedule, const ComparePlan& plan,
                      const std::vector<SpeedCell>& cells) {
  double sum = 0;
  for (const SpeedCell& cell : cells) {
    const RunRecord* run = schedule.log().Find(SpeedRun(cell, plan, 0, 0));
    if (run) sum += run->wall_seconds;
  }
  return sum;
}

struct FirstMeasurements {
  std::vector<std::vector<SpeedCell>> repeated;  // cells, by batch size
  double seconds = 0;
};

// One batch size after the other, as long as there is time.
FirstMeasurements MeasureBatches(RunSchedule& schedule, const ComparePlan& plan, double budget) {
  const double later = plan.budget_seconds - budget;
  FirstMeasurements first;
  for (const std::int64_t batch : plan.batches) {
    if (first.seconds > kFirstMeasurementShare * budget) break;
    const std::vector<SpeedCell> cells = SpeedCells(schedule.sides(), batch);
    schedule.Expect("first look", cells.size(), later + budget - first.seconds);
    std::vector<SpeedCell> worth = MeasureOnce(schedule, plan, cells);
    const auto in_flight = InFlight(worth, schedule.sides(), schedule.setting().threads);
    schedule.Expect("first look, in flight", in_flight.size(), later + budget - first.seconds);
    std::ranges::move(MeasureOnce(schedule, plan, in_flight), std::back_inserter(worth));
    first.repeated.push_back(std::move(worth));
    first.seconds +=
        MeasureSeconds(schedule, plan, cells) + MeasureSeconds(schedule, plan, in_flight);
  }
  return first;
}

}  // namespace

void MeasureThroughput(RunSchedule& schedule, const ComparePlan& plan) {
  const double budget =
      plan.trains ? BudgetShares().throughput * plan.budget_seconds : plan.budget_seconds;
  const FirstMeasurements first = MeasureBatches(schedule, plan, budget);
  std::vector<std::vector<SpeedCell>> repeated = first.repeated;
  const double left = budget - first.seconds;
  const std::int64_t wanted = plan.repeats - 1;  // the first measurement is a repeat, too
  const auto repeats = static_cast<double>(wanted);
  double repeat_seconds = 0;
  std::size_t kept = 0;
  std::size_t runs = 0;
  for (const std::vector<SpeedCell>& cells : repeated) {
    const double more = RepeatSeconds(schedule, plan, cells);
    if (kept > 0 && repeats * (repeat_seconds + more) > left) break;
    repeat_seconds += more;
    ++kept;
    runs += cells.size();
  }
  repeated.resize(kept);
  const std::int64_t affordable = RepeatsWithin(left, repeat_seconds, wanted);
  schedule.Expect("throughput", runs * affordable, plan.budget_seconds - budget);
  for (std::int64_t repeat = 1; repeat <= affordable; ++repeat) {
    for (const std::vector<SpeedCell>& cells : repeated) {
      for (const SpeedCell& cell : Rotated(cells, repeat)) {
        schedule.Do(SpeedRun(cell, plan, repeat, TimeOfEvaluation(schedule, plan, cell)));
      }
    }
  }
}

}  // namespace hogbatch::compare
