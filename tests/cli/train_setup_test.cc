#include "cli/train_setup.h"

#include <gtest/gtest.h>

namespace hogbatch {
namespace {

TrainOptions With(const std::string& optimizer, double momentum, const std::string& algorithm) {
  TrainOptions options;
  options.optimizer.optimizer = optimizer;
  options.optimizer.momentum = momentum;
  options.optimizer.no_momentum_correction = true;
  options.algorithm = algorithm;
  return options;
}

TEST(BytesToTrain, CountsCopiesOfTheModelAndWhatEachWorkerKeeps) {
  const ModelSpec spec{.inputs = 32, .hidden = {16}, .outputs = 16};
  const std::int64_t copy = 4 * (32 * 16 + 16 + 16 * 16 + 16);
  EXPECT_EQ(BytesToTrain(With("sgd", 0, "hogbatch"), spec, 8), 4 * copy);
  EXPECT_EQ(BytesToTrain(With("sgd", 0.9, "hogbatch"), spec, 8), (4 + 8 * 2) * copy);
  EXPECT_EQ(BytesToTrain(With("adam", 0, "hogbatch"), spec, 8), (4 + 8 * 3) * copy);
}

TEST(BytesToTrain, OfWorkersThatStepTogetherHasOneStateAndAGradientEach) {
  const ModelSpec spec{.inputs = 32, .hidden = {16}, .outputs = 16};
  const std::int64_t copy = 4 * (32 * 16 + 16 + 16 * 16 + 16);
  EXPECT_EQ(BytesToTrain(With("adam", 0, "sync"), spec, 8), (4 + 2 + 8) * copy);
}

TEST(BytesToTrain, LeavesTheFirstLayerOutOfGradientsOfSparseRows) {
  const ModelSpec spec{.inputs = 32, .hidden = {16}, .outputs = 16, .sparse_input = true};
  const std::int64_t first = 4 * 32 * 16;
  const std::int64_t copy = first + 4 * (16 + 16 * 16 + 16);
  EXPECT_EQ(BytesToTrain(With("adam", 0, "hogbatch"), spec, 8), (4 + 8 * 3) * copy - 8 * first);
}

}  // namespace
}  // namespace hogbatch
