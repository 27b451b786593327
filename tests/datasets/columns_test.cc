#include <gtest/gtest.h>

#include "tests/datasets/reading.h"

namespace hogbatch {
namespace {

using Columns = std::vector<std::int64_t>;

TEST(Columns, StayAsTheyAreUpTo65536) {
  const Schema schema = Learn("1 65536:1\n0 1:1\n").schema;
  EXPECT_EQ(schema.features, 65536);
  EXPECT_TRUE(schema.used_columns.empty());
}

TEST(Columns, AreNumberedAnewWhenFewOfManyAreUsed) {
  const TrainingData read = Learn("1 2147483647:2 5:1\n0 70000:1\n");
  EXPECT_EQ(read.schema.file_columns, 2147483647);
  EXPECT_EQ(read.schema.features, 3);
  EXPECT_EQ(read.schema.used_columns, (Columns{4, 69999, 2147483646}));
  EXPECT_LT(read.data.bytes(), 1000);
  EXPECT_EQ(DenseRow(InOrder("1 2147483647:2 5:1\n0 70000:1\n"), 0), (Rows{1, 0, 2}));
}

TEST(Columns, MayReachTwoToThe31) {
  EXPECT_EQ(Learn("1 2147483648:2\n0 1:1\n").schema.used_columns, (Columns{0, 2147483647}));
}

TEST(Columns, StayAsTheyAreWhenHalfAreUsed) {
  std::string text = "1";
  for (int i = 1; i <= 80000; i += 2) text += fmt::format(" {}:1", i);
  text += "\n0 80000:1\n";
  EXPECT_TRUE(Learn(text).schema.used_columns.empty());
  EXPECT_EQ(Learn(text).schema.features, 80000);
}

TEST(Columns, AreMappedTheSameByTableAndBySearch) {
  // More non-zeros than columns (a table), and few rows of the same file (a search).
  std::string text;
  for (int row = 0; row < 3000; ++row) {
    text += std::to_string(row % 2);
    for (int i = 1; i <= 30; ++i) text += fmt::format(" {}:{}", i * 2333, i);
    text += "\n";
  }
  const TrainingData all = Learn(text);
  ASSERT_EQ(all.schema.features, 30);
  ASSERT_GT(all.data.rows * 30, all.schema.file_columns);
  const std::string first = text.substr(0, text.find('\n') + 1);
  EXPECT_EQ(DenseRow(Apply(first, all.schema), 0), DenseRow(Apply(text, all.schema), 0));
}

TEST(Columns, TheSchemaDoesNotUseAreDropped) {
  Schema schema = Learn("1 100000:2 5:1\n0 70000:1\n", {.scaling = ScalingKind::kNone}).schema;
  EXPECT_EQ(DenseRow(Apply("1 6:9 70000:3 90000:9\n", schema), 0), (Rows{0, 3, 0}));
}

TEST(Columns, OnlyZerosLeaveNothingToLearnFrom) {
  EXPECT_TRUE(Begins(LearnError("1 100000:0\n0 5:0\n"), "in.txt: no row has a feature"));
}

}  // namespace
}  // namespace hogbatch
