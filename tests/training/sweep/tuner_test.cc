// Which trial trains next: exact, in virtual results.
#include "training/sweep/tuner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace hogbatch {
namespace {

using testing::ElementsAre;
using Stage = Tuner::Stage;
using Promotable = Tuner::Promotable;

constexpr double kNone = std::numeric_limits<double>::infinity();

TEST(Tuner, WithOneRungTrainsEachTrialOnceInOrder) {
  Tuner tuner(3, {5}, 3);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(tuner.Next(), (Stage{i, 0}));
  EXPECT_EQ(tuner.Next(), std::nullopt);
  EXPECT_FALSE(tuner.done());
  for (std::size_t i = 0; i < 3; ++i) tuner.Finish({i, 0}, 1.0, Promotable::kYes);
  EXPECT_EQ(tuner.Next(), std::nullopt);
  EXPECT_TRUE(tuner.done());
}

TEST(Tuner, PromotesATrialAsSoonAsItIsAmongTheBestOfItsRung) {
  Tuner tuner(9, {1, 3, 9}, 3);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(tuner.Next(), (Stage{i, 0}));
  tuner.Finish({0, 0}, 0.5, Promotable::kYes);
  tuner.Finish({1, 0}, 0.4, Promotable::kYes);
  EXPECT_EQ(tuner.Next(), (Stage{3, 0}));  // the best third of two results is none
  tuner.Finish({2, 0}, 0.6, Promotable::kYes);
  EXPECT_EQ(tuner.Next(), (Stage{1, 1}));
  EXPECT_EQ(tuner.Next(), (Stage{4, 0}));
  tuner.Finish({3, 0}, 0.1, Promotable::kYes);
  EXPECT_EQ(tuner.Next(), (Stage{3, 1}));  // it is the best of four; trial 1 has gone on already
  tuner.Finish({4, 0}, 0.9, Promotable::kYes);
  EXPECT_EQ(tuner.Next(), (Stage{5, 0}));
}

TEST(Tuner, PromotesFromTheHighestRungFirst) {
  Tuner tuner(9, {1, 3, 9}, 3);
  for (std::size_t i = 0; i < 9; ++i) tuner.Next();
  for (std::size_t i = 0; i < 9; ++i) tuner.Finish({i, 0}, 0.1 * double(i), Promotable::kYes);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(tuner.Next(), (Stage{i, 1}));
  EXPECT_EQ(tuner.Next(), std::nullopt);
  for (std::size_t i = 0; i < 3; ++i)
    tuner.Finish({i, 1}, 0.1 - 0.01 * double(i), Promotable::kYes);
  EXPECT_EQ(tuner.Next(), (Stage{2, 2}));
  tuner.Finish({2, 2}, 0.05, Promotable::kNo);
  EXPECT_TRUE(tuner.done());
}

// Finishes all stages of 40 trials, the loss of each being its number, and returns them in order.
std::vector<Stage> StagesOf(Tuner& tuner) {
  std::vector<Stage> stages;
  while (!tuner.done()) {
    const std::size_t first = stages.size();
    while (const auto stage = tuner.Next()) stages.push_back(*stage);
    if (stages.size() == first) break;  // it would never end
    for (std::size_t i = first; i < stages.size(); ++i) {
      tuner.Finish(stages[i], static_cast<double>(stages[i].trial), Promotable::kYes);
    }
  }
  return stages;
}

TEST(Tuner, SpendsAFifthOfAllEpochs) {
  // Halving: 40 epochs, 10 trials for 3 more, 2 for 12 more, and none goes on. Of 160 epochs 66 are
  // left: to the end a trial of the second rung trains 4 + 12.
  Tuner tuner(40, {1, 4, 16, 20}, 4);
  const std::vector<Stage> stages = StagesOf(tuner);
  std::vector<std::size_t> finalists;
  double epochs = 0;
  for (const Stage stage : stages) {
    epochs += std::vector<double>{1, 3, 12, 4}[stage.rung];
    if (stage.rung == 3) finalists.push_back(stage.trial);
  }
  EXPECT_THAT(finalists, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_LE(epochs, 160);
  EXPECT_GT(epochs, 160 - 19);  // a trial of the first rung would not come to the end
  EXPECT_EQ(tuner.Next(), std::nullopt);
}

TEST(Tuner, ChoosesFurtherTrialsWhenNoPromotionMayCome) {
  Tuner tuner(6, {1, 10}, 6);
  for (std::size_t i = 0; i < 6; ++i) tuner.Next();
  for (std::size_t i = 1; i < 6; ++i) tuner.Finish({i, 0}, double(i), Promotable::kYes);
  EXPECT_EQ(tuner.Next(), std::nullopt);  // trial 0 may be the best
  tuner.Finish({0, 0}, 9, Promotable::kYes);
  EXPECT_EQ(tuner.Next(), (Stage{1, 1}));
  EXPECT_EQ(tuner.Next(), std::nullopt);  // 15 of 12 epochs are spent
  tuner.Finish({1, 1}, 0.5, Promotable::kYes);
  EXPECT_TRUE(tuner.done());
}

TEST(Tuner, ASweepThatWasStoppedHasNoMoreFurtherTrials) {
  Tuner whole(10, {1, 8}, 10);
  const std::vector<Stage> stages = StagesOf(whole);
  EXPECT_EQ(stages.size(), 10u + 1);  // 17 of 16 epochs
  Tuner resumed(10, {1, 8}, 10);
  for (std::size_t i = 1; i < 10; ++i) resumed.Restore(i, std::vector{double(i)}, Promotable::kYes);
  resumed.Restore(0, std::vector{0.0, 0.0}, Promotable::kNo);
  EXPECT_EQ(resumed.Next(), std::nullopt);
  EXPECT_TRUE(resumed.done());
}

TEST(Tuner, CountsFailuresButNeverPromotesThem) {
  Tuner tuner(4, {1, 2}, 2);
  for (std::size_t i = 0; i < 4; ++i) tuner.Next();
  tuner.Finish({0, 0}, std::numeric_limits<double>::quiet_NaN(), Promotable::kNo);
  tuner.Finish({1, 0}, kNone, Promotable::kYes);
  EXPECT_EQ(tuner.Next(), std::nullopt);  // the better half of both is a failure
  tuner.Finish({2, 0}, 0.3, Promotable::kNo);
  EXPECT_EQ(tuner.Next(), std::nullopt);  // it is the best, and has stopped by itself
  tuner.Finish({3, 0}, 0.7, Promotable::kYes);
  EXPECT_EQ(tuner.Next(), (Stage{3, 1}));
}

TEST(Tuner, GoesOnWithASweepThatWasStopped) {
  Tuner tuner(6, {1, 2, 4}, 2);
  tuner.Restore(0, std::vector{0.5}, Promotable::kYes);
  tuner.Restore(1, std::vector{0.4, 0.3}, Promotable::kYes);
  tuner.RestoreUnfinished(2, std::vector{0.3});
  tuner.RestoreUnfinished(3, {});
  tuner.Restore(4, std::vector{kNone}, Promotable::kNo);
  EXPECT_EQ(tuner.Next(), (Stage{2, 1}));
  EXPECT_EQ(tuner.Next(), (Stage{3, 0}));
  EXPECT_EQ(tuner.Next(), (Stage{5, 0}));  // the best half of four results has gone on already
  EXPECT_EQ(tuner.under_way(), 3);
  tuner.Finish({2, 1}, 0.2, Promotable::kYes);
  EXPECT_EQ(tuner.Next(), (Stage{2, 2}));
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
