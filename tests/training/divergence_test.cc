// A training that diverges goes back to its best model at half the learning rate. With arithmetic,
// in virtual time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/training/small_training.h"

namespace hogbatch {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::SizeIs;
using testing::Truly;

const auto kFinite = Truly([](float x) { return std::isfinite(x); });

class Divergence : public testing::TestWithParam<Case> {};

TEST_P(Divergence, IsToldThreeTimesAndEndsTheRunIfNoRateHelps) {
  Case setup = GetParam();
  setup.lr = 1e12;
  const auto ended = SmallTraining(setup).Run();
  EXPECT_EQ(ended.result.stopped_because, StopReason::kDiverged);
  ASSERT_THAT(ended.warnings, SizeIs(3));
  EXPECT_THAT(ended.warnings[0], HasSubstr("(--lr 5e+11; attempt 1 of 3)"));
  EXPECT_THAT(ended.warnings[2], HasSubstr("(--lr 1.25e+11; attempt 3 of 3)"));
  EXPECT_THAT(ended.saved, Each(kFinite));
  for (const Checkpoint& checkpoint : ended.checkpoints) {
    EXPECT_THAT(checkpoint.weights, Each(kFinite));
  }
}

// Whether a lower rate helps depends on the last bits of the arithmetic, and so on the processor.
TEST_P(Divergence, HalvesTheRateUntilTrainingEndsWithFiniteWeights) {
  const auto ended = SmallTraining(GetParam()).Run();
  ASSERT_THAT(ended.warnings, Not(testing::IsEmpty()));
  EXPECT_EQ(ended.result.rate_factor, std::pow(0.5, ended.warnings.size()));
  EXPECT_THAT(ended.saved, Each(kFinite));
  if (ended.result.stopped_because == StopReason::kDiverged) {
    EXPECT_THAT(ended.warnings, SizeIs(3));
    return;
  }
  EXPECT_EQ(ended.result.stopped_because, StopReason::kEpochs);
  EXPECT_EQ(ended.examples, 3 * 2700);
  EXPECT_THAT(ended.weights, Each(kFinite));
}

TEST_P(Divergence, EndsWithTheSameBitsFromEveryCheckpoint) {
  SmallTraining training(GetParam());
  const auto whole = training.Run();
  ASSERT_GE(whole.checkpoints.size(), 3u);
  for (std::size_t i = 0; i < whole.checkpoints.size(); ++i) {
    const auto resumed = training.Run(&whole.checkpoints[i]);
    EXPECT_EQ(resumed.result.rate_factor, whole.result.rate_factor) << "checkpoint " << i;
    EXPECT_TRUE(resumed.weights == whole.weights) << "checkpoint " << i;
    EXPECT_TRUE(resumed.saved == whole.saved) << "checkpoint " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Divergence,
    testing::Values(Case{"hogbatch", kSgd, 0, 0, 45}, Case{"hogbatch", kMomentum, 5, 1, 110},
                    Case{"adaptive", kSgd, 0, 1, 15}, Case{"adaptive", kAdam, 5, 2, 2400},
                    Case{"sync", kSgd, 0, 0, 18}, Case{"sync", kAdam, 5, 1, 3}),
    [](const testing::TestParamInfo<Case>& tested) {
      return tested.param.algorithm + std::to_string(tested.index);
    });

}  // namespace
}  // namespace hogbatch
