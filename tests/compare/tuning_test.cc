#include "compare/phases/tuning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/compare/records.h"

namespace hogbatch::compare {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Side Named(std::string name) {
  return {.name = name, .framework = name, .script = {}, .version = "1", .variants = {"v"}};
}

RunRecord Tried(std::string side, std::int64_t batch, double lr, double loss) {
  return MakeRun(Phase::kTuning, std::move(side), batch, lr, Fall(1, loss));
}

TEST(Curve, ReachesALossBetweenTwoEvaluations) {
  const auto curve = Fall(1, 0);
  EXPECT_NEAR(*SecondsTo(curve, 0.25, 10), 7.5, 1e-9);
  EXPECT_FALSE(SecondsTo(curve, 0.25, 7)) << "what comes later does not count";
  EXPECT_FALSE(SecondsTo(Fall(1, 0.5), 0.25, 10));
  EXPECT_EQ(*SecondsTo(curve, 2, 10), 0) << "it begins below";
}

TEST(Curve, ItsBestPointIsTheLowestInTime) {
  const std::vector<CurvePoint> curve = {
      {0, 0, 1, {}}, {1, 1, 0.5, {}}, {2, 2, 0.7, {}}, {3, 3, 0.1, {}}};
  EXPECT_EQ(BestPoint(curve, 2)->loss, 0.5);
  EXPECT_FALSE(BestPoint({}, 2));
}

TEST(Tuning, SurvivorsAreTheLowestLossesThatEndedWell) {
  const RunRecord good = Tried("a", 16, 0.1, 0.5);
  const RunRecord better = Tried("a", 64, 0.1, 0.4);
  const RunRecord again = Tried("a", 64, 0.1, 0.45);
  const RunRecord diverged = Failed(Tried("a", 64, 9, 0.1), Outcome::kDiverged, "");
  EXPECT_THAT(Survivors({&good, &diverged, &better, &again}, 3),
              ElementsAre(GridCell{64, 0.1}, GridCell{16, 0.1}));
}

TEST(Tuning, TheTargetIsOneThatEverySideReached) {
  RunLog log;
  log.Add(Tried("a", 16, 0.1, 0.30));
  log.Add(Tried("b", 16, 0.1, 0.35));
  log.Add(Tried("c", 16, 0.1, 0.40));
  const auto target = ChooseTarget(log, {Named("a"), Named("b"), Named("c")}, 0);
  ASSERT_TRUE(target);
  EXPECT_NEAR(target->loss, 0.40 + 0.02 * 0.6, 1e-9);
  EXPECT_THAT(target->how, HasSubstr("c got no lower than 0.4000"));
}

TEST(Tuning, ASideThatHardlyLearntDoesNotSetTheTarget) {
  RunLog log;
  log.Add(Tried("a", 16, 0.1, 0.30));
  log.Add(Tried("b", 16, 0.1, 0.35));
  log.Add(Tried("slow", 16, 0.1, 0.95));
  const auto target = ChooseTarget(log, {Named("a"), Named("b"), Named("slow")}, 0);
  EXPECT_LT(target->loss, 0.4);
  EXPECT_THAT(target->how, HasSubstr("Not counted: slow"));
}

TEST(Tuning, AGivenTargetIsTaken) {
  EXPECT_EQ(ChooseTarget(RunLog(), {}, 0.53)->loss, 0.53);
  EXPECT_FALSE(ChooseTarget(RunLog(), {Named("a")}, 0)) << "no side learnt";
}

TEST(Tuning, TheSettingThatReachesTheTargetFirstWins) {
  RunLog log;
  RunRecord early = Tried("a", 16, 0.1, 0.0);
  early.curve = {{0, 0, 1, {}}, {1, 1, 0.4, {}}, {10, 9, 0.4, {}}};  // fast, then stuck
  log.Add(Tried("a", 64, 0.2, 0.1));
  log.Add(early);
  const auto setting = ChooseSetting(log, Named("a"), 0.5);
  ASSERT_TRUE(setting);
  EXPECT_EQ(setting->cell, (GridCell{16, 0.1}));
  EXPECT_NEAR(*setting->seconds, 1 * 0.5 / 0.6, 1e-9);
  EXPECT_NEAR(setting->loss, 0.1, 1e-9);
  EXPECT_EQ(setting->tried, 2);
  EXPECT_TRUE(setting->at_edge);
}

TEST(Tuning, WithoutAnySettingAtTheTargetTheLowestLossWins) {
  RunLog log;
  log.Add(Tried("a", 16, 0.1, 0.6));
  log.Add(Tried("a", 64, 0.1, 0.55));
  const auto setting = ChooseSetting(log, Named("a"), 0.5);
  EXPECT_EQ(setting->cell, (GridCell{64, 0.1}));
  EXPECT_FALSE(setting->seconds);
  EXPECT_FALSE(ChooseSetting(log, Named("b"), 0.5)) << "it never trained";
}

}  // namespace
}  // namespace hogbatch::compare
