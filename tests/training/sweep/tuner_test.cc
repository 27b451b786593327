// Which trial trains next: exact, in virtual results.
#include "training/sweep/tuner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace hogbatch {
namespace {

using testing::ElementsAre;
using Leg = Tuner::Leg;
using After = Tuner::After;

constexpr double kNone = std::numeric_limits<double>::infinity();

TEST(Tuner, WithOneRungTrainsEachTrialOnceInOrder) {
  Tuner tuner(3, {5}, 3);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(tuner.Next(), (Leg{i, 0}));
  EXPECT_EQ(tuner.Next(), std::nullopt);
  EXPECT_FALSE(tuner.done());
  for (std::size_t i = 0; i < 3; ++i) tuner.Finish({i, 0}, 1.0, After::kMayGoOn);
  EXPECT_EQ(tuner.Next(), std::nullopt);
  EXPECT_TRUE(tuner.done());
}

TEST(Tuner, PromotesATrialAsSoonAsItIsAmongTheBestOfItsRung) {
  Tuner tuner(9, {1, 3, 9}, 3);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(tuner.Next(), (Leg{i, 0}));
  tuner.Finish({0, 0}, 0.5, After::kMayGoOn);
  tuner.Finish({1, 0}, 0.4, After::kMayGoOn);
  EXPECT_EQ(tuner.Next(), (Leg{3, 0}));  // the best third of two results is none
  tuner.Finish({2, 0}, 0.6, After::kMayGoOn);
  EXPECT_EQ(tuner.Next(), (Leg{1, 1}));
  EXPECT_EQ(tuner.Next(), (Leg{4, 0}));
  tuner.Finish({3, 0}, 0.1, After::kMayGoOn);
  EXPECT_EQ(tuner.Next(), (Leg{3, 1}));  // it is the best of four; trial 1 has gone on already
  tuner.Finish({4, 0}, 0.9, After::kMayGoOn);
  EXPECT_EQ(tuner.Next(), (Leg{5, 0}));
}

TEST(Tuner, PromotesFromTheHighestRungFirst) {
  Tuner tuner(9, {1, 3, 9}, 3);
  for (std::size_t i = 0; i < 9; ++i) tuner.Next();
  for (std::size_t i = 0; i < 9; ++i) tuner.Finish({i, 0}, 0.1 * double(i), After::kMayGoOn);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(tuner.Next(), (Leg{i, 1}));
  EXPECT_EQ(tuner.Next(), std::nullopt);
  for (std::size_t i = 0; i < 3; ++i) tuner.Finish({i, 1}, 0.1 - 0.01 * double(i), After::kMayGoOn);
  EXPECT_EQ(tuner.Next(), (Leg{2, 2}));
  tuner.Finish({2, 2}, 0.05, After::kOver);
  EXPECT_TRUE(tuner.done());
}

// Finishes all legs of 40 trials, the loss of each being its number, and returns them in order.
std::vector<Leg> LegsOf(Tuner& tuner) {
  std::vector<Leg> legs;
  while (!tuner.done()) {
    const std::size_t first = legs.size();
    while (const auto leg = tuner.Next()) legs.push_back(*leg);
    if (legs.size() == first) break;  // it would never end
    for (std::size_t i = first; i < legs.size(); ++i) {
      tuner.Finish(legs[i], static_cast<double>(legs[i].trial), After::kMayGoOn);
    }
  }
  return legs;
}

TEST(Tuner, SpendsAFifthOfAllEpochs) {
  // Halving: 40 epochs, 10 trials for 3 more, 2 for 12 more, and none goes on. Of 160 epochs 66 are
  // left: to the end a trial of the second rung trains 4 + 12.
  Tuner tuner(40, {1, 4, 16, 20}, 4);
  const std::vector<Leg> legs = LegsOf(tuner);
  std::vector<std::size_t> finalists;
  double epochs = 0;
  for (const Leg leg : legs) {
    epochs += std::vector<double>{1, 3, 12, 4}[leg.rung];
    if (leg.rung == 3) finalists.push_back(leg.trial);
  }
  EXPECT_THAT(finalists, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_LE(epochs, 160);
  EXPECT_GT(epochs, 160 - 19);  // a trial of the first rung would not come to the end
  EXPECT_EQ(tuner.Next(), std::nullopt);
}

TEST(Tuner, ChoosesFurtherTrialsWhenNoPromotionMayCome) {
  Tuner tuner(6, {1, 10}, 6);
  for (std::size_t i = 0; i < 6; ++i) tuner.Next();
  for (std::size_t i = 1; i < 6; ++i) tuner.Finish({i, 0}, double(i), After::kMayGoOn);
  EXPECT_EQ(tuner.Next(), std::nullopt);  // trial 0 may be the best
  tuner.Finish({0, 0}, 9, After::kMayGoOn);
  EXPECT_EQ(tuner.Next(), (Leg{1, 1}));
  EXPECT_EQ(tuner.Next(), std::nullopt);  // 15 of 12 epochs are spent
  tuner.Finish({1, 1}, 0.5, After::kMayGoOn);
  EXPECT_TRUE(tuner.done());
}

TEST(Tuner, ASweepThatWasStoppedHasNoMoreFurtherTrials) {
  Tuner whole(10, {1, 8}, 10);
  const std::vector<Leg> legs = LegsOf(whole);
  EXPECT_EQ(legs.size(), 10u + 1);  // 17 of 16 epochs
  Tuner resumed(10, {1, 8}, 10);
  for (std::size_t i = 1; i < 10; ++i) resumed.Restore(i, std::vector{double(i)}, After::kMayGoOn);
  resumed.Restore(0, std::vector{0.0, 0.0}, After::kOver);
  EXPECT_EQ(resumed.Next(), std::nullopt);
  EXPECT_TRUE(resumed.done());
}

TEST(Tuner, CountsFailuresButNeverPromotesThem) {
  Tuner tuner(4, {1, 2}, 2);
  for (std::size_t i = 0; i < 4; ++i) tuner.Next();
  tuner.Finish({0, 0}, std::numeric_limits<double>::quiet_NaN(), After::kOver);
  tuner.Finish({1, 0}, kNone, After::kMayGoOn);
  EXPECT_EQ(tuner.Next(), std::nullopt);  // the better half of both is a failure
  tuner.Finish({2, 0}, 0.3, After::kOver);
  EXPECT_EQ(tuner.Next(), std::nullopt);  // it is the best, and has stopped by itself
  tuner.Finish({3, 0}, 0.7, After::kMayGoOn);
  EXPECT_EQ(tuner.Next(), (Leg{3, 1}));
}

TEST(Tuner, GoesOnWithASweepThatWasStopped) {
  Tuner tuner(6, {1, 2, 4}, 2);
  tuner.Restore(0, std::vector{0.5}, After::kMayGoOn);
  tuner.Restore(1, std::vector{0.4, 0.3}, After::kMayGoOn);
  tuner.RestoreUnfinished(2, std::vector{0.3});
  tuner.RestoreUnfinished(3, {});
  tuner.Restore(4, std::vector{kNone}, After::kOver);
  EXPECT_EQ(tuner.Next(), (Leg{2, 1}));
  EXPECT_EQ(tuner.Next(), (Leg{3, 0}));
  EXPECT_EQ(tuner.Next(), (Leg{5, 0}));  // the best half of four results has gone on already
  EXPECT_EQ(tuner.under_way(), 3);
  tuner.Finish({2, 1}, 0.2, After::kMayGoOn);
  EXPECT_EQ(tuner.Next(), (Leg{2, 2}));
}

TEST(Tuner, MakesRungsUpToTheLastEpoch) {
  EXPECT_THAT(MakeRungs(1, 27, 3), ElementsAre(1, 3, 9, 27));
  EXPECT_THAT(MakeRungs(1, 10, 3), ElementsAre(1, 3, 9, 10));
  EXPECT_THAT(MakeRungs(5, 5, 3), ElementsAre(5));
  // 27 trials of one epoch, 9 of two more, 3 of six more.
  EXPECT_DOUBLE_EQ(ExpectedEpochs(27, MakeRungs(1, 9, 3), 3), 27 + 9 * 2 + 3 * 6);
  // With more rungs, what is left of a fifth of all epochs goes to further trials.
  EXPECT_DOUBLE_EQ(ExpectedEpochs(81, MakeRungs(1, 27, 3), 3), 0.2 * 81 * 27);
}

}  // namespace
}  // namespace hogbatch
