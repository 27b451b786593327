#include "nn/classification.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace hogbatch {
namespace {

TEST(Auc, IsOneForAPerfectOrderAndZeroForItsReverse) {
  EXPECT_EQ(Auc(std::vector<float>{1, 2, 3, 4}, std::vector<std::uint8_t>{0, 0, 1, 1}), 1.0);
  EXPECT_EQ(Auc(std::vector<float>{4, 3, 2, 1}, std::vector<std::uint8_t>{0, 0, 1, 1}), 0.0);
}

TEST(Auc, CountsTiesAsHalf) {
  EXPECT_EQ(Auc(std::vector<float>{5, 5, 5, 5}, std::vector<std::uint8_t>{0, 1, 0, 1}), 0.5);
  // Pairs of positive and negative: (2,1) above, (2,2) tied, (3,1) and (3,2) above.
  EXPECT_EQ(Auc(std::vector<float>{1, 2, 2, 3}, std::vector<std::uint8_t>{0, 1, 0, 1}), 0.875);
}

TEST(Auc, IsUnknownWhereOneKindIsMissing) {
  EXPECT_EQ(Auc(std::vector<float>{1, 2}, std::vector<std::uint8_t>{1, 1}), std::nullopt);
  EXPECT_EQ(Auc(std::vector<float>{}, std::vector<std::uint8_t>{}), std::nullopt);
}

TEST(Auc, IsUnknownWhereAScoreIsNotFinite) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(Auc(std::vector<float>{1, nan, 2}, std::vector<std::uint8_t>{0, 1, 1}), std::nullopt);
  EXPECT_EQ(Auc(std::vector<float>{1, infinity}, std::vector<std::uint8_t>{0, 1}), std::nullopt);
}

TEST(Auc, OfTwoClassesIsTheSecondsAndOfMoreTheMeanOfEachAgainstTheRest) {
  EXPECT_EQ(Auc(std::vector<float>{.9f, .1f, .2f, .8f}, std::vector<std::int32_t>{0, 1}, 2), 1.0);
  // Class 0: .5 against .1 and .6: half. Class 1: .7 above both: 1. Class 2: .3 against .1 and
  // .2: 1.
  const std::vector<float> scores = {.5f, .4f, .1f, .1f, .7f, .2f, .6f, .1f, .3f};
  EXPECT_NEAR(*Auc(scores, std::vector<std::int32_t>{0, 1, 2}, 3), (0.5 + 1 + 1) / 3, 1e-12);
}

ConfusionMatrix Matrix(std::int64_t classes, const std::vector<std::vector<int>>& counts) {
  ConfusionMatrix matrix(classes);
  for (std::size_t a = 0; a < counts.size(); ++a) {
    for (std::size_t p = 0; p < counts.size(); ++p) {
      for (int i = 0; i < counts[a][p]; ++i) {
        matrix.Add(static_cast<std::int32_t>(a), static_cast<std::int32_t>(p));
      }
    }
  }
  return matrix;
}

TEST(ConfusionMatrix, F1OfTwoClassesIsThePositivesOne) {
  const ConfusionMatrix matrix = Matrix(2, {{50, 10}, {5, 35}});
  // Precision 35/45, recall 35/40.
  EXPECT_NEAR(matrix.F1(), 2.0 * 35 / (45 + 40), 1e-12);
  EXPECT_EQ(matrix.actual(1), 40);
  EXPECT_EQ(matrix.predicted(1), 45);
}

TEST(ConfusionMatrix, F1OfMoreClassesIsTheMeanOverThoseThatOccur) {
  const ConfusionMatrix matrix =
      Matrix(4, {{2, 0, 0, 0}, {0, 1, 1, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}});
  EXPECT_EQ(matrix.F1(3), std::nullopt);
  EXPECT_NEAR(matrix.F1(), (1.0 + 2.0 / 3 + 0) / 3, 1e-12);
}

TEST(ConfusionMatrix, TableNamesActualAndPredictedLabels) {
  const std::vector<std::string> names = {"no", "yes"};
  EXPECT_EQ(Matrix(2, {{12, 1}, {2, 3}}).Table(names),
            "       predicted\n"
            "label     no    yes\n"
            "   no     12      1\n"
            "  yes      2      3\n");
}

}  // namespace
}  // namespace hogbatch
