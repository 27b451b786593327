#include "datasets/encoding/class_weights.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace hogbatch {
namespace {

TrainingData Classes() {
  TrainingData training;
  training.schema.label_names = {"-1", "1"};
  training.data.rows = 5;
  training.data.classes = {0, 0, 0, 1, 1};
  training.train_rows = 4;
  return training;
}

TEST(ClassWeights, BalancedCountsTrainingRowsOnly) {
  const TrainingData data = Classes();
  const auto weights = ParseClassWeights("balanced", data.schema, data.data, data.train_rows);
  ASSERT_EQ(weights.size(), 2u);
  EXPECT_FLOAT_EQ(weights[0], 4.0f / (2 * 3));
  EXPECT_FLOAT_EQ(weights[1], 4.0f / (2 * 1));
}

TEST(ClassWeights, NamedOnesLeaveTheOthersAtOne) {
  const TrainingData data = Classes();
  EXPECT_EQ(ParseClassWeights("1=2.5", data.schema, data.data, 4),
            (std::vector<float>{1.0f, 2.5f}));
  EXPECT_TRUE(ParseClassWeights("none", data.schema, data.data, 4).empty());
  for (const char* bad : {"7=1", "1", "1=x", "1=-2", "balancd"}) {
    EXPECT_THROW(ParseClassWeights(bad, data.schema, data.data, 4), UserError) << bad;
  }
}

}  // namespace
}  // namespace hogbatch
