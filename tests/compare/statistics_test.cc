#include "compare/findings/statistics.h"

#include <gtest/gtest.h>

#include <vector>

namespace hogbatch::compare {
namespace {

TEST(Statistics, SpreadIsMedianAndBounds) {
  EXPECT_FALSE(SpreadOf({}));
  const auto odd = SpreadOf(std::vector{5.0, 1.0, 2.0});
  EXPECT_EQ(odd->median, 2);
  EXPECT_EQ(odd->min, 1);
  EXPECT_EQ(odd->max, 5);
  EXPECT_EQ(SpreadOf(std::vector{4.0, 1.0, 2.0, 10.0})->median, 3);
}

TEST(Statistics, RatioIsTheGeometricMeanOfPairedRounds) {
  // The machine is twice as slow in the second repeat, for both.
  const auto ratio = RatioOf(std::vector<Pair>{{4, 1}, {8, 2}, {4, 1}});
  ASSERT_TRUE(ratio);
  EXPECT_NEAR(ratio->mean, 4, 1e-12);
  EXPECT_NEAR(ratio->low, 4, 1e-9);
  EXPECT_NEAR(ratio->high, 4, 1e-9);
  EXPECT_EQ(ratio->verdict, Verdict::kHigher);
}

TEST(Statistics, IntervalIsThatOfStudent) {
  // Logarithms 0, ln 2, 2 ln 2: mean ln 2, error ln 2 / sqrt 3, and t is 4.303 for 2 degrees.
  const auto ratio = RatioOf(std::vector<Pair>{{1, 1}, {2, 1}, {4, 1}});
  EXPECT_NEAR(ratio->mean, 2, 1e-12);
  EXPECT_NEAR(ratio->high, 2 * std::pow(2, 4.303 / std::sqrt(3)), 1e-6);
  EXPECT_NEAR(ratio->low, 2 / std::pow(2, 4.303 / std::sqrt(3)), 1e-6);
}

TEST(Statistics, AnIntervalThatHoldsOneIsNoise) {
  EXPECT_EQ(RatioOf(std::vector<Pair>{{1, 2}, {3, 2}, {2, 2}})->verdict, Verdict::kNoise);
}

TEST(Statistics, SmallDifferencesAreNoiseHoweverSure) {
  EXPECT_EQ(RatioOf(std::vector<Pair>{{104, 100}, {104, 100}, {104, 100}})->verdict,
            Verdict::kNoise);
  EXPECT_EQ(RatioOf(std::vector<Pair>{{106, 100}, {106, 100}, {106, 100}})->verdict,
            Verdict::kHigher);
  EXPECT_EQ(RatioOf(std::vector<Pair>{{100, 106}, {100, 106}, {100, 106}})->verdict,
            Verdict::kLower);
}

TEST(Statistics, OneRoundHasNoVerdict) {
  const auto ratio = RatioOf(std::vector<Pair>{{9, 1}});
  EXPECT_EQ(ratio->verdict, Verdict::kUnknown);
  EXPECT_NEAR(ratio->mean, 9, 1e-12);
}

TEST(Statistics, RoundsWithoutAPositiveValueDoNotCount) {
  EXPECT_FALSE(RatioOf(std::vector<Pair>{{0, 1}, {1, 0}}));
  EXPECT_EQ(RatioOf(std::vector<Pair>{{0, 1}, {2, 1}})->repeats, 1);
}

TEST(Statistics, DifferenceIsJudgedByItsInterval) {
  EXPECT_EQ(DifferenceOf(std::vector<Pair>{{0.91, 0.9}, {0.92, 0.91}, {0.911, 0.9}})->verdict,
            Verdict::kHigher);
  EXPECT_EQ(DifferenceOf(std::vector<Pair>{{0.91, 0.9}, {0.89, 0.9}})->verdict, Verdict::kNoise);
}

TEST(Statistics, QuantilesFallToThoseOfTheNormalDistribution) {
  for (int degrees = 1; degrees < 60; ++degrees) {
    EXPECT_GT(StudentQuantile(degrees), StudentQuantile(degrees + 1)) << degrees;
  }
  EXPECT_NEAR(StudentQuantile(30), 2.042, 0.003);
  EXPECT_NEAR(StudentQuantile(1000), 1.962, 0.002);
}

}  // namespace
}  // namespace hogbatch::compare
