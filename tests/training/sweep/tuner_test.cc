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
  Tuner tuner(3, 1, 3);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(tuner.Next(), (Leg{i, 0}));
  EXPECT_EQ(tuner.Next(), std::nullopt);
  EXPECT_FALSE(tuner.done());
  for (std::size_t i = 0; i < 3; ++i) tuner.Finish({i, 0}, 1.0, After::kMayGoOn);
  EXPECT_EQ(tuner.Next(), std::nullopt);
  EXPECT_TRUE(tuner.done());
}

TEST(Tuner, PromotesATrialAsSoonAsItIsAmongTheBestOfItsRung) {
  Tuner tuner(9, 3, 3);
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
  Tuner tuner(9, 3, 3);
  for (std::size_t i = 0; i < 9; ++i) tuner.Next();
  for (std::size_t i = 0; i < 9; ++i) tuner.Finish({i, 0}, 0.1 * double(i), After::kMayGoOn);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(tuner.Next(), (Leg{i, 1}));
  EXPECT_EQ(tuner.Next(), std::nullopt);
  for (std::size_t i = 0; i < 3; ++i) tuner.Finish({i, 1}, 0.1 - 0.01 * double(i), After::kMayGoOn);
  EXPECT_EQ(tuner.Next(), (Leg{2, 2}));
  tuner.Finish({2, 2}, 0.05, After::kOver);
  EXPECT_TRUE(tuner.done());
}

TEST(Tuner, CountsFailuresButNeverPromotesThem) {
  Tuner tuner(4, 2, 2);
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
  Tuner tuner(6, 3, 2);
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
  // 81 trials of one epoch, 27 of two more, 9 of six more, 3 of eighteen more.
  EXPECT_DOUBLE_EQ(ExpectedEpochs(81, MakeRungs(1, 27, 3), 3), 81 + 27 * 2 + 9 * 6 + 3 * 18);
}

}  // namespace
}  // namespace hogbatch
