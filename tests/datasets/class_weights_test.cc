#include "datasets/encoding/class_weights.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/datasets/reading.h"
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

TEST(RowWeights, AreAColumnThatIsNoFeature) {
  const std::string text = "x,w,y\n1,2,a\n2,0,b\n3,1.5,a\n4,\"1,000\",b\n";
  const TrainingData read = Learn(text, {.valid_fraction = 0, .weight = "w"});
  EXPECT_EQ(read.schema.features, 1);
  EXPECT_EQ(read.schema.table[1].reason, "it weighs the rows");
  std::vector<float> weights(read.data.weights.begin(), read.data.weights.end());
  std::ranges::sort(weights);
  EXPECT_EQ(weights, (std::vector<float>{0, 1.5f, 2, 1000}));
  EXPECT_TRUE(Learn(text).data.weights.empty());
  const Dataset again = ReadTextWithSchema(InputFromBytes(text, "in.txt"), read.schema,
                                           Labels::kRequired, {.weight = "w"}, {.threads = 2});
  EXPECT_EQ(again.weights, (std::vector<float>{2, 0, 1.5f, 1000}));
}

TEST(RowWeights, MustBeNumbersOfZeroOrMore) {
  const auto error = [](const std::string& cell) {
    return LearnError("x,w,y\n1,1,a\n2," + cell + ",b\n", {.weight = "w"});
  };
  EXPECT_EQ(error("-1"),
            "in.txt:3:3: '-1' is no weight; write a number of 0 or more, or remove the row");
  EXPECT_TRUE(Begins(error("much"), "in.txt:3:3: 'much' is no weight"));
  EXPECT_TRUE(Begins(error(""), "in.txt:3:3: an empty cell is no weight"));
  EXPECT_TRUE(Begins(LearnError("x,w,y\n1,1,a\n", {.weight = "v"}), "in.txt: --weight names 'v'"));
  EXPECT_TRUE(Begins(LearnError("x,w,y\n1,1,a\n", {.weight = "y"}),
                     "in.txt: --weight names the label column"));
  EXPECT_TRUE(Begins(LearnError("1 1:1\n0 1:2\n", {.weight = "1"}),
                     "in.txt: only a table has columns with names"));
}

TEST(RowWeights, HaveAMeanOfOneAmongTrainingAndAmongValidationRows) {
  TrainingData training;
  training.data.rows = 4;
  training.train_rows = 3;
  training.data.weights = {1, 2, 3, 8};
  NormalizeRowWeights(training);
  EXPECT_EQ(training.data.weights, (std::vector<float>{0.5f, 1, 1.5f, 1}));
  training.data.weights = {0, 0, 0, 1};
  EXPECT_THROW(NormalizeRowWeights(training), UserError);
}

}  // namespace
}  // namespace hogbatch
