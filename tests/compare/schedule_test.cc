#include "compare/phases/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace hogbatch::compare {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Side MakeSide(std::string name, Updates updates, std::vector<std::string> variants) {
  return {.name = std::move(name),
          .framework = "f",
          .script = "s",
          .version = "1",
          .updates = updates,
          .variants = std::move(variants)};
}

const std::vector<Side>& Sides() {
  static const std::vector<Side> sides = {
      MakeSide("hogbatch", Updates::kAsynchronous, {"hogbatch"}),
      MakeSide("pytorch", Updates::kSynchronous, {"eager", "compile"})};
  return sides;
}

TEST(Schedule, ASynchronousSideIsMeasuredAtEqualRowsPerUpdateAndInFlight) {
  const std::vector<SpeedCell> cells = SpeedCells(Sides(), 16);
  EXPECT_THAT(cells,
              ElementsAre(SpeedCell{"hogbatch", "hogbatch", 16}, SpeedCell{"pytorch", "eager", 16},
                          SpeedCell{"pytorch", "compile", 16}));
  EXPECT_THAT(InFlight(cells, Sides(), 4),
              ElementsAre(SpeedCell{"pytorch", "eager", 64}, SpeedCell{"pytorch", "compile", 64}));
  EXPECT_THAT(InFlight(cells, Sides(), 1), IsEmpty()) << "on one core both are the same";
}

TEST(Schedule, SlowVariantsAndFailuresAreNotRepeated) {
  const SpeedCell fast{"pytorch", "eager", 16};
  const SpeedCell near{"pytorch", "compile", 16};
  const SpeedCell slow{"pytorch", "script", 16};
  const SpeedCell failed{"keras", "fit", 16};
  const SpeedCell larger{"pytorch", "script", 64};  // the only one of its batch size
  EXPECT_THAT(WorthRepeating({{fast, 1000}, {near, 810}, {slow, 790}, {failed, 0}, {larger, 10}}),
              ElementsAre(fast, near, larger));
}

TEST(Schedule, EveryItemIsFirstInSomeRound) {
  std::set<int> first;
  for (int turn = 0; turn < 3; ++turn) first.insert(Rotated(std::vector{1, 2, 3}, turn)[0]);
  EXPECT_EQ(first.size(), 3u);
  EXPECT_THAT(Rotated(std::vector{1, 2, 3}, 4), ElementsAre(2, 3, 1));
}

TEST(Schedule, HalfOfTheGridCoversEveryBatchSizeAndRate) {
  const std::vector<GridCell> grid = Grid({64, 16, 256}, {0.1, 0.2, 0.4});
  ASSERT_EQ(grid.size(), 9u);
  std::set<std::int64_t> batches;
  std::set<double> rates;
  for (std::size_t i = 0; i < 5; ++i) {
    batches.insert(grid[i].batch);
    rates.insert(grid[i].lr);
  }
  EXPECT_EQ(batches.size(), 3u);
  EXPECT_EQ(rates.size(), 3u);
}

TEST(Schedule, NeighboursAreTriedOnlyBeyondTheEdge) {
  const std::vector<GridCell> grid = Grid({16, 64, 256}, {0.02, 0.2, 2});
  EXPECT_THAT(CellsBeyondGrid({64, 0.2}, grid), IsEmpty());
  EXPECT_THAT(CellsBeyondGrid({64, 2}, grid), ElementsAre(GridCell{64, 6}));
  EXPECT_THAT(CellsBeyondGrid({16, 0.2}, grid), ElementsAre(GridCell{4, 0.2}));
  EXPECT_THAT(CellsBeyondGrid({256, 0.2}, grid), ElementsAre(GridCell{1024, 0.2}));
}

TEST(Schedule, RunsFillTheTimeWithinTheirBounds) {
  const std::vector<SideCost> sides = {{.overhead_seconds = 1, .evaluation_seconds = 0.5},
                                       {.overhead_seconds = 5, .evaluation_seconds = 1}};
  const double seconds = SecondsWithin(200, sides, 10, 2, 1, 60);
  EXPECT_NEAR(10 * SecondsOfAllSides(sides, seconds, 2), 200, 1e-9);
  EXPECT_EQ(SecondsWithin(10, sides, 10, 2, 1, 60), 1);
  EXPECT_EQ(SecondsWithin(1e6, sides, 10, 2, 1, 60), 60);
}

TEST(Schedule, LittleTimeMakesFewerRoundsButTwo) {
  EXPECT_EQ(RepeatsWithin(100, 10, 5), 5);
  EXPECT_EQ(RepeatsWithin(35, 10, 5), 3);
  EXPECT_EQ(RepeatsWithin(5, 10, 5), 2);
  EXPECT_EQ(RepeatsWithin(-5, 10, 5), 2);
  EXPECT_EQ(RepeatsWithin(5, 10, 1), 1);
}

TEST(Schedule, EvaluationTakesAtMostItsShareOfTraining) {
  const SideCost cost{.overhead_seconds = 0, .evaluation_seconds = 1};
  EXPECT_EQ(EvaluationsWithin(cost, 20, 24, 0.5), 10);
  EXPECT_EQ(EvaluationsWithin(cost, 2, 24, 0.5), 3) << "fewer would say nothing";
  EXPECT_EQ(EvaluationsWithin({}, 2, 24, 0.5), 24);
}

}  // namespace
}  // namespace hogbatch::compare
