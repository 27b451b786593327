// Tuning, the race and the curves: runs that learn.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compare/phases/phases.h"
#include "compare/phases/side_speed.h"
#include "core/error.h"
#include "core/text.h"

namespace hogbatch::compare {
namespace {

constexpr std::int64_t kTuningSeed = 1;
constexpr double kGridShare = 0.55;  // of the time for tuning
constexpr double kEdgeShare = 0.1;
constexpr std::size_t kFewestCells = 4;
constexpr double kMostOften = 0.01;  // epochs between evaluations

// Sides that can train, with what their runs take.
struct Field {
  std::vector<Side> sides;
  std::vector<SideCost> costs;
};

Field FieldOf(const RunSchedule& schedule) {
  Field field;
  for (const Side& side : schedule.sides()) {
    if (const auto cost = CostOf(schedule.log(), side)) {
      field.sides.push_back(side);
      field.costs.push_back(*cost);
    }
  }
  return field;
}

// How long a run trains and how often it is evaluated, beside its setting.
struct Length {
  double seconds = 0;
  std::int64_t evaluations = 1;
  double evaluation_share = 0.5;     // of the training time at most
  std::optional<double> until = {};  // evaluations are spread over this time; the whole if absent
};

RunPlan TrainingRun(const RunSchedule& schedule, const Side& side, const GridCell& cell,
                    const Length& length) {
  const SideCost cost = CostOf(schedule.log(), side).value_or(SideCost());
  const SideSpeed speed = SpeedAt(schedule.log(), side, cell.batch).value_or(SideSpeed());
  const double spread = length.until.value_or(length.seconds);
  const std::int64_t evaluations =
      EvaluationsWithin(cost, spread, length.evaluations, length.evaluation_share);
  const auto rows =
      static_cast<double>(std::max<std::int64_t>(1, schedule.setting().problem.train_rows));
  const double epochs = speed.examples_per_second * length.seconds / rows;
  // A run that is slower than expected must not end without an evaluation.
  const double fewest_epochs = speed.least_examples_per_second * spread / rows;
  RunPlan plan{.side = side.name,
               .variant = speed.variant,
               .batch = cell.batch,
               .lr = cell.lr,
               .seed = kTuningSeed,
               .repeat = 0,
               .seconds = length.seconds,
               .epochs = 0,
               .eval_every = std::max(kMostOften, fewest_epochs / static_cast<double>(evaluations)),
               .extra_seconds = 0,
               .stop = {}};
  if (IsOwn(side)) {
    // Its time limit includes evaluations, so epochs end the run; more than enough of them.
    plan.epochs = epochs > 0 ? 1.2 * epochs : 0;
    const double count = static_cast<double>(evaluations) * length.seconds / spread + 2;
    plan.extra_seconds = 1 + length.seconds + 4 * count * cost.evaluation_seconds;
  }
  return plan;
}

// Every setting of `cells` for every side, in turn.
void TryGrid(RunSchedule& schedule, const Field& field, const std::vector<GridCell>& cells,
             const Length& length) {
  std::int64_t turn = 0;
  for (const GridCell& cell : cells) {
    for (const Side& side : Rotated(field.sides, turn++)) {
      RunPlan plan = TrainingRun(schedule, side, cell, length);
      plan.phase = Phase::kTuning;
      schedule.Do(plan);
    }
  }
}

// Settings of a side that are tried one after the other, each side in its turn.
using Shortlist = std::vector<std::vector<GridCell>>;  // by side

void TryShortlist(RunSchedule& schedule, const Field& field, const Shortlist& lists,
                  const Length& length, std::int64_t rung) {
  std::size_t longest = 0;
  for (const auto& list : lists) longest = std::max(longest, list.size());
  for (std::size_t i = 0; i < longest; ++i) {
    for (std::size_t s = 0; s < field.sides.size(); ++s) {
      if (i >= lists[s].size()) continue;
      RunPlan plan = TrainingRun(schedule, field.sides[s], lists[s][i], length);
      plan.phase = Phase::kTuning;
      plan.repeat = rung;
      schedule.Do(plan);
    }
  }
}

std::size_t RunsIn(const Shortlist& lists) {
  std::size_t runs = 0;
  for (const auto& list : lists) runs += list.size();
  return runs;
}

std::vector<const RunRecord*> Rungs(const RunSchedule& schedule, const Side& side,
                                    std::int64_t last) {
  std::vector<const RunRecord*> runs = schedule.log().Of(Phase::kTuning, side.name);
  std::erase_if(runs, [last](const RunRecord* run) { return run->plan.repeat > last; });
  return runs;
}

// The whole grid, or as much of it as there is time for.
std::vector<GridCell> AffordableGrid(const ComparePlan& plan, const Field& field, double budget) {
  std::vector<GridCell> cells = Grid(plan.batches, plan.lrs);
  const double each = SecondsOfAllSides(field.costs, plan.shortest_seconds, 3);
  const auto affordable = static_cast<std::size_t>(std::max(0.0, budget / std::max(each, 1e-9)));
  const std::size_t half = (cells.size() + 1) / 2;
  if (affordable >= cells.size()) return cells;
  // Of one colour, so that no batch size and no rate is preferred.
  cells.resize(std::min(cells.size(), std::max(kFewestCells, std::min(affordable, half))));
  return cells;
}

// Every phase has a fewest number of runs. What they take is known once throughput is measured.
void AnnounceShortBudget(RunSchedule& schedule, const ComparePlan& plan, const Field& field) {
  const std::size_t runs =
      kFewestCells + plan.edge_cells + plan.survivors + plan.seeds + 1;  // and one of curves
  const double least =
      schedule.log().wall_seconds(Phase::kThroughput) +
      static_cast<double>(runs) * SecondsOfAllSides(field.costs, plan.shortest_seconds, 3);
  if (least < 1.1 * plan.budget_seconds) return;
  schedule.Announce(
      fmt::format("the shortest comparison of these sides takes about {}, longer than "
                  "--budget {}",
                  ShortTime(least), ShortTime(plan.budget_seconds)));
}

std::vector<BestSetting> SettingsOf(const RunSchedule& schedule, const Target& target) {
  std::vector<BestSetting> settings;
  for (const Side& side : schedule.sides()) {
    if (const auto setting = ChooseSetting(schedule.log(), side, target.loss))
      settings.push_back(*setting);
  }
  if (settings.empty()) throw Error("no side could be trained; see the runs in the folder");
  return settings;
}

const Side& SideNamed(const RunSchedule& schedule, const std::string& name) {
  return *std::ranges::find(schedule.sides(), name, &Side::name);
}

double LongestTuning(const RunSchedule& schedule) {
  double seconds = 0;
  for (const RunRecord* run : schedule.log().Of(Phase::kTuning)) {
    seconds = std::max(seconds, run->plan.seconds);
  }
  return seconds;
}

Target TargetOf(const RunSchedule& schedule, const ComparePlan& plan) {
  const auto target = ChooseTarget(schedule.log(), schedule.sides(), plan.target_loss);
  if (!target) {
    throw Error("no side learnt anything when it was tuned; try smaller rates with --lrs");
  }
  return *target;
}

}  // namespace

void Tune(RunSchedule& schedule, const ComparePlan& plan) {
  const BudgetShares shares;
  const double budget = shares.tuning * plan.budget_seconds;
  const double later = (1 - shares.throughput - shares.tuning) * plan.budget_seconds;
  const Field field = FieldOf(schedule);
  AnnounceShortBudget(schedule, plan, field);
  const std::vector<GridCell> cells = AffordableGrid(plan, field, kGridShare * budget);
  const Length grid{.seconds = SecondsWithin(kGridShare * budget, field.costs,
                                             static_cast<std::int64_t>(cells.size()), 3,
                                             plan.shortest_seconds, plan.longest_seconds / 3),
                    .evaluations = 6};
  schedule.Expect("tuning, grid", cells.size() * field.sides.size(),
                  later + (1 - kGridShare) * budget);
  TryGrid(schedule, field, cells, grid);

  Shortlist edges;
  for (const Side& side : field.sides) {
    const auto tried = Rungs(schedule, side, 0);
    const std::vector<GridCell> best = Survivors(tried, 1);
    edges.push_back(best.empty() ? std::vector<GridCell>() : CellsBeyondGrid(best.front(), cells));
    edges.back().resize(std::min(edges.back().size(), plan.edge_cells));
  }
  schedule.Expect("tuning, edge", RunsIn(edges), later + (1 - kGridShare - kEdgeShare) * budget);
  TryShortlist(schedule, field, edges, grid, 1);

  Shortlist best;
  for (const Side& side : field.sides)
    best.push_back(Survivors(Rungs(schedule, side, 1), plan.survivors));
  const Length longer{.seconds = SecondsWithin((1 - kGridShare - kEdgeShare) * budget, field.costs,
                                               static_cast<std::int64_t>(plan.survivors), 5,
                                               1.5 * grid.seconds, plan.longest_seconds),
                      .evaluations = 12};
  schedule.Expect("tuning, best", RunsIn(best), later);
  TryShortlist(schedule, field, best, longer, 2);
}

void Race(RunSchedule& schedule, const ComparePlan& plan) {
  const BudgetShares shares;
  const Target target = TargetOf(schedule, plan);
  const std::vector<BestSetting> settings = SettingsOf(schedule, target);
  const double later = (1 - shares.throughput - shares.tuning - shares.race) * plan.budget_seconds;
  schedule.Expect("race", settings.size() * plan.seeds, later);
  for (std::int64_t seed = 1; seed <= plan.seeds; ++seed) {
    for (const BestSetting& setting : Rotated(settings, seed)) {
      const double usual = setting.seconds.value_or(LongestTuning(schedule));
      const double patience = setting.seconds ? 3 : 1.5;
      RunPlan run = TrainingRun(schedule, SideNamed(schedule, setting.side), setting.cell,
                                {.seconds = patience * usual + plan.shortest_seconds,
                                 .evaluations = 10,
                                 .until = std::max(usual, 0.1)});
      run.phase = Phase::kRace;
      run.variant = setting.variant;
      run.seed = seed;
      run.repeat = seed;
      run.stop = target.loss;
      schedule.Do(run);
    }
  }
}

void DrawCurves(RunSchedule& schedule, const ComparePlan& plan) {
  const Target target = TargetOf(schedule, plan);
  const std::vector<BestSetting> settings = SettingsOf(schedule, target);
  std::vector<SideCost> costs;
  for (const BestSetting& setting : settings) {
    costs.push_back(CostOf(schedule.log(), SideNamed(schedule, setting.side)).value_or(SideCost()));
  }
  const double budget = plan.budget_seconds - schedule.log().wall_seconds(Phase::kThroughput) -
                        schedule.log().wall_seconds(Phase::kTuning) -
                        schedule.log().wall_seconds(Phase::kRace);
  const double shortest = LongestTuning(schedule);
  const double each = SecondsOfAllSides(costs, shortest, 5);
  const auto affordable = static_cast<std::int64_t>(std::max(1.0, budget / std::max(each, 1e-9)));
  const std::int64_t seeds = std::min(plan.seeds, affordable);
  const Length length{.seconds = SecondsWithin(budget, costs, seeds, 8, shortest,
                                               std::max(shortest, plan.longest_seconds)),
                      .evaluations = 24};
  schedule.Expect("curves", settings.size() * seeds, 0);
  for (std::int64_t seed = 1; seed <= seeds; ++seed) {
    for (const BestSetting& setting : Rotated(settings, seed)) {
      RunPlan run = TrainingRun(schedule, SideNamed(schedule, setting.side), setting.cell, length);
      run.phase = Phase::kCurve;
      run.variant = setting.variant;
      run.seed = seed;
      run.repeat = seed;
      schedule.Do(run);
    }
  }
}

}  // namespace hogbatch::compare
