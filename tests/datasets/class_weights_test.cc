#include "datasets/encoding/class_weights.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/datasets/two_classes.h"

namespace hogbatch {
namespace {

TEST(ClassWeights, BalancedCountsTrainingRowsOnly) {
  const TrainingData data = TwoClasses();
  const auto weights = ParseClassWeights("balanced", data.schema, data.data, data.train_rows);
  ASSERT_EQ(weights.size(), 2u);
  EXPECT_FLOAT_EQ(weights[0], 4.0f / (2 * 3));
  EXPECT_FLOAT_EQ(weights[1], 4.0f / (2 * 1));
}

TEST(ClassWeights, NamedOnesLeaveTheOthersAtOne) {
  const TrainingData data = TwoClasses();
  EXPECT_EQ(ParseClassWeights("1=2.5", data.schema, data.data, 4),
            (std::vector<float>{1.0f, 2.5f}));
  EXPECT_TRUE(ParseClassWeights("none", data.schema, data.data, 4).empty());
  for (const char* bad : {"7=1", "1", "1=x", "1=-2", "balancd"}) {
    EXPECT_THROW(ParseClassWeights(bad, data.schema, data.data, 4), UserError) << bad;
  }
}

}  // namespace
}  // namespace hogbatch
