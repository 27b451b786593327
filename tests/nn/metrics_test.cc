#include "nn/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/error.h"

namespace hogbatch {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int32_t>;
using Offsets = std::vector<std::int64_t>;

EvaluationSums OfClasses(const Floats& outputs, std::int64_t columns, const Ints& classes,
                         const Floats& weights = {}) {
  return Evaluate(Loss::kSoftmax, outputs, columns,
                  {.classes = classes, .label_offsets = {}, .labels = {}, .values = {}}, weights);
}

EvaluationSums OfLabels(const Floats& outputs, std::int64_t columns, const Offsets& offsets,
                        const Ints& labels, const Floats& weights = {}) {
  return Evaluate(Loss::kSigmoid, outputs, columns,
                  {.classes = {}, .label_offsets = offsets, .labels = labels, .values = {}},
                  weights);
}

TEST(Evaluate, SumsSoftmaxLossAndCountsTheLargestOutput) {
  const EvaluationSums sums = OfClasses({0, 0, std::log(3.0f), 0}, 2, {1, 0});
  EXPECT_EQ(sums.rows, 2);
  EXPECT_NEAR(sums.loss, std::log(2.0) - std::log(0.75), 1e-7);
  EXPECT_EQ(sums.correct, 1) << "row 0 ties and the lowest index wins it";
  EXPECT_NEAR(sums.mean_loss(), sums.loss / 2, 1e-12);
}

TEST(Evaluate, WeighsClassesAndStillCountsRows) {
  const EvaluationSums sums = OfClasses({0, 0, 0, 0}, 2, {0, 1}, {3, 0.5f});
  EXPECT_NEAR(sums.loss, 3.5 * std::log(2.0), 1e-12);
  EXPECT_EQ(sums.rows, 2);
}

TEST(Evaluate, WeighsTheLossOfRowsAndCountsThemAlike) {
  const Floats weights = {3, 0};
  const Ints classes = {0, 1};
  const EvaluationSums sums = Evaluate(
      Loss::kSoftmax, Floats{0, 0, 0, 1}, 2,
      {.classes = classes, .label_offsets = {}, .labels = {}, .values = {}, .weights = weights},
      {});
  EXPECT_NEAR(sums.loss, 3 * std::log(2.0), 1e-12);
  EXPECT_EQ(sums.correct, 2);
}

TEST(Evaluate, StaysFiniteForHugeOutputs) {
  EXPECT_NEAR(OfClasses({3e38f, -3e38f}, 2, {0}).loss, 0, 1e-12);
  EXPECT_NEAR(OfClasses({1000, 0}, 2, {1}).loss, 1000, 1e-9);
  EXPECT_NEAR(OfLabels({1000, -1000}, 2, {0, 1}, {0}).loss, 0, 1e-12);
  EXPECT_NEAR(OfLabels({1000, -1000}, 2, {0, 1}, {1}).loss, 1000, 1e-9);
}

TEST(Evaluate, ShowsNanAsALossAndNeverAsSuccess) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const EvaluationSums sums = OfClasses({nan, nan}, 2, {0});
  EXPECT_TRUE(std::isnan(sums.loss));
  EXPECT_EQ(sums.correct, 0);
}

TEST(Evaluate, TakesTheMeanOfSigmoidLossesOverOutputs) {
  const EvaluationSums plain = OfLabels({0, std::log(3.0f)}, 2, {0, 1}, {1});
  EXPECT_NEAR(plain.loss, (std::log(2.0) - std::log(0.75)) / 2, 1e-7);
  const EvaluationSums weighted = OfLabels({0, std::log(3.0f)}, 2, {0, 1}, {1}, {9, 2});
  EXPECT_NEAR(weighted.loss, (std::log(2.0) - 2 * std::log(0.75)) / 2, 1e-7);
}

TEST(Evaluate, CountsLabelsAmongTheLargestOutputs) {
  // Order of the outputs: 2, 0, 3, 1, 4, 5. Labels 0, 1 and 5.
  const EvaluationSums sums = OfLabels({5, 2, 9, 3, 1, 0}, 6, {0, 3}, {0, 1, 5});
  EXPECT_DOUBLE_EQ(sums.hits_at[0], 0);
  EXPECT_DOUBLE_EQ(sums.hits_at[1], 1.0 / 3);
  EXPECT_DOUBLE_EQ(sums.hits_at[2], 2.0 / 5);
}

TEST(Evaluate, GivesTiesToTheLowestIndex) {
  const Floats same(7, 0.0f);
  EXPECT_DOUBLE_EQ(OfLabels(same, 7, {0, 1}, {0}).hits_at[0], 1);
  EXPECT_DOUBLE_EQ(OfLabels(same, 7, {0, 1}, {1}).hits_at[0], 0);
  EXPECT_DOUBLE_EQ(OfLabels(same, 7, {0, 2}, {2, 3}).hits_at[1], 1.0 / 3);
  EXPECT_DOUBLE_EQ(OfLabels(same, 7, {0, 2}, {4, 5}).hits_at[2], 1.0 / 5);
}

TEST(Evaluate, HandlesFewerOutputsThanRanksAndRowsWithoutLabels) {
  const EvaluationSums sums = OfLabels({1, 2, 1, 2}, 2, {0, 2, 2}, {0, 1});
  EXPECT_EQ(sums.rows, 2);
  EXPECT_DOUBLE_EQ(sums.hits_at[0], 1);
  EXPECT_DOUBLE_EQ(sums.hits_at[1], 2.0 / 3);
  EXPECT_DOUBLE_EQ(sums.hits_at[2], 2.0 / 5);
}

TEST(Evaluate, TakesTheMeanOfSquaresOverOutputs) {
  const Floats values{1, 0, 0, 0};
  const EvaluationSums sums =
      Evaluate(Loss::kSquared, Floats{3, 0, 0, 1}, 2,
               {.classes = {}, .label_offsets = {}, .labels = {}, .values = values}, {});
  EXPECT_DOUBLE_EQ(sums.loss, 2.5);
  EXPECT_DOUBLE_EQ(sums.squared_error, 2.5);
}

TEST(Evaluate, AddsUpFromParts) {
  EvaluationSums sums = OfClasses({0, 1}, 2, {1});
  sums += OfClasses({2, 1}, 2, {1});
  const EvaluationSums whole = OfClasses({0, 1, 2, 1}, 2, {1, 1});
  EXPECT_EQ(sums.rows, whole.rows);
  EXPECT_EQ(sums.correct, whole.correct);
  EXPECT_DOUBLE_EQ(sums.loss, whole.loss);
}

TEST(Evaluate, RefusesATargetWithoutAnOutput) {
  EXPECT_THROW(OfClasses({0, 1}, 2, {2}), Error);
  EXPECT_THROW(OfLabels({0, 1}, 2, {0, 1}, {-1}), Error);
}

TEST(ToProbabilities, AppliesWhatTheLossImplies) {
  Floats softmax{0, std::log(3.0f), 1e30f, -1e30f};
  ToProbabilities(Loss::kSoftmax, softmax, 2);
  EXPECT_NEAR(softmax[0], 0.25, 1e-6);
  EXPECT_NEAR(softmax[1], 0.75, 1e-6);
  EXPECT_EQ(softmax[2], 1);
  EXPECT_EQ(softmax[3], 0);
  Floats sigmoid{0, 1e30f, -1e30f};
  ToProbabilities(Loss::kSigmoid, sigmoid, 3);
  EXPECT_EQ(sigmoid, (Floats{0.5f, 1, 0}));
  Floats squared{3, -4};
  ToProbabilities(Loss::kSquared, squared, 1);
  EXPECT_EQ(squared, (Floats{3, -4}));
}

}  // namespace
}  // namespace hogbatch
