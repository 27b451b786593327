#include "nn/lanes/lane_mean.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "nn/metrics.h"

namespace hogbatch {
namespace {

using testing::ElementsAre;
using testing::FloatNear;

std::vector<float> MeanProbabilities(Loss loss, std::vector<float> outputs, std::int64_t lanes,
                                     std::int64_t columns) {
  std::vector<float> mean = MeanOfLanes(loss, outputs, lanes, columns);
  ToProbabilities(loss, mean, columns);
  return mean;
}

float Sigmoid(double x) { return static_cast<float>(1 / (1 + std::exp(-x))); }

TEST(MeanOfLanes, HasTheMeanProbabilitiesOfClasses) {
  // Two rows; lanes of two classes beside each other.
  const auto mean = MeanProbabilities(Loss::kSoftmax, {0, 2, 1, 0, -3, 3, 3, -3}, 2, 2);
  const float second = (Sigmoid(2) + Sigmoid(-1)) / 2;
  EXPECT_THAT(mean, ElementsAre(FloatNear(1 - second, 1e-6), FloatNear(second, 1e-6),
                                FloatNear(.5, 1e-6), FloatNear(.5, 1e-6)));
}

TEST(MeanOfLanes, HasTheMeanProbabilitiesOfLabelsAlsoNextToOne) {
  const auto mean = MeanProbabilities(Loss::kSigmoid, {1, -2, 3, 0}, 2, 2);
  EXPECT_THAT(mean, ElementsAre(FloatNear((Sigmoid(1) + Sigmoid(3)) / 2, 1e-6),
                                FloatNear((Sigmoid(-2) + Sigmoid(0)) / 2, 1e-6)));
  // A probability that a float rounds to 1 keeps its distance to 1.
  EXPECT_THAT(MeanOfLanes(Loss::kSigmoid, std::vector<float>{30, 30}, 2, 1),
              ElementsAre(FloatNear(30, 1e-4)));
}

TEST(MeanOfLanes, IsTheMeanOfNumbers) {
  EXPECT_THAT(MeanOfLanes(Loss::kSquared, std::vector<float>{1, 2, 6, 10, 20, 60}, 3, 1),
              ElementsAre(3, 30));
}

TEST(MeanOfLanes, IsFiniteWhereAllLanesAreSure) {
  for (const Loss loss : {Loss::kSoftmax, Loss::kSigmoid}) {
    for (const float x : MeanOfLanes(loss, std::vector<float>{900, -900, 900, -900}, 2, 2)) {
      EXPECT_TRUE(std::isfinite(x));
    }
  }
}

}  // namespace
}  // namespace hogbatch
