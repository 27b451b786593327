// Real files, when the environment says where they are.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/datasets/reading.h"

namespace hogbatch {
namespace {

class RealData : public testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("HOGBATCH_DATA");
    if (folder == nullptr) GTEST_SKIP() << "HOGBATCH_DATA names no folder with real data";
    folder_ = folder;
  }
  std::string File(const std::string& name) const { return (folder_ / name).string(); }

 private:
  std::filesystem::path folder_;
};

std::int64_t CountClass(const Dataset& data, std::int32_t which) {
  return std::count(data.classes.begin(), data.classes.end(), which);
}

TEST_F(RealData, W8aHasItsCounts) {
  const TrainingData train = ReadTrainingData(File("w8a.xz"), {});
  EXPECT_EQ(train.data.rows, 49749);
  EXPECT_EQ(train.data.features, 300);
  EXPECT_EQ(train.data.values.size(), 579586U);
  EXPECT_EQ(CountClass(train.data, 1), 1479);
  const Dataset test = ReadWithSchema(File("w8a.t.xz"), train.schema, Labels::kRequired);
  EXPECT_EQ(test.rows, 14951);
  EXPECT_EQ(test.features, 300);
  EXPECT_EQ(test.values.size(), 174276U);
}

TEST_F(RealData, DeliciousHasTenRowsWithoutALabel) {
  const TrainingData train = ReadTrainingData(File("delicious-train.svm.xz"), {});
  EXPECT_EQ(train.data.rows, 12920);
  EXPECT_EQ(train.data.features, 500);
  EXPECT_EQ(train.schema.label_kind, LabelKind::kMultiLabel);
  EXPECT_EQ(train.schema.outputs(), 983);
  const Array<std::int64_t>& ends = train.data.label_offsets;
  EXPECT_NE(std::adjacent_find(ends.begin(), ends.end()), ends.end());
  int without = 0;
  for (std::size_t i = 1; i < ends.size(); ++i) without += ends[i] == ends[i - 1] ? 1 : 0;
  EXPECT_EQ(without, 10);
  const Dataset test =
      ReadWithSchema(File("delicious-test.svm.xz"), train.schema, Labels::kRequired);
  EXPECT_EQ(test.rows, 3185);
}

TEST_F(RealData, ImdbHasItsCounts) {
  const TrainingData train = ReadTrainingData(File("imdb-train.svm.xz"), {});
  EXPECT_EQ(train.data.rows, 25000);
  EXPECT_EQ(train.data.features, 20958);
  EXPECT_TRUE(train.data.is_sparse);
  EXPECT_EQ(train.data.values.size() / 25000, 114U);
  EXPECT_EQ(CountClass(train.data, 0), 12500);
  const Dataset test = ReadWithSchema(File("imdb-test.svm.xz"), train.schema, Labels::kRequired);
  EXPECT_EQ(test.rows, 25000);
  EXPECT_EQ(test.features, 20958);
}

TEST_F(RealData, CovtypeHasItsCounts) {
  const TrainingData read = ReadTrainingData(File("covtype.csv.xz"), {});
  EXPECT_EQ(read.data.rows, 581012);
  EXPECT_EQ(read.data.features, 54);
  const std::vector<std::int64_t> counts = {211840, 283301, 35754, 2747, 9493, 17367, 20510};
  for (std::int32_t k = 0; k < 7; ++k) {
    EXPECT_EQ(CountClass(read.data, k), counts[k]);
  }
  // Ten columns of numbers, then 44 that are one-hot.
  EXPECT_EQ(read.schema.scaling, ScalingKind::kAuto);
  EXPECT_GT(read.schema.shift[0], 2000);
  EXPECT_EQ(read.schema.shift[53], 0);
  EXPECT_EQ(read.schema.scale[53], 1);
  EXPECT_EQ(read.schema.table.front().name, "Elevation");
  EXPECT_EQ(read.schema.label_name, "Cover_Type");
}

TEST_F(RealData, DigitsHaveTheirCounts) {
  const TrainingData read = ReadTrainingData(File("digits.csv.gz"), {});
  EXPECT_EQ(read.data.rows, 1797);
  EXPECT_EQ(read.schema.file_columns, 64);
  EXPECT_EQ(read.data.features, 61) << "three columns are the same in all rows";
  EXPECT_EQ(read.schema.outputs(), 10);
}

TEST_F(RealData, MnistHasItsCounts) {
  const TrainingData read = ReadTrainingData(File("train-images-idx3-ubyte.gz"), {});
  EXPECT_EQ(read.data.rows, 60000);
  EXPECT_EQ(read.data.features, 784);
  EXPECT_EQ(read.schema.outputs(), 10);
  EXPECT_EQ(read.schema.scale[0], 1.0f / 255);
  EXPECT_EQ(CountClass(read.data, 5), 5421);
  const Dataset test =
      ReadWithSchema(File("t10k-images-idx3-ubyte.gz"), read.schema, Labels::kRequired);
  EXPECT_EQ(test.rows, 10000);
  EXPECT_EQ(CountClass(test, 7), 1028);
}

TEST_F(RealData, TheBuiltInSampleIsTheFile) {
  const ReadOptions options{.scaling = ScalingKind::kNone, .valid_fraction = 0};
  const TrainingData builtin = ReadTrainingData("", options);
  const Dataset file = ReadWithSchema(File("covtype-50k.csv"), builtin.schema, Labels::kRequired);
  const Dataset again = ReadWithSchema("", builtin.schema, Labels::kRequired);
  EXPECT_EQ(file.values, again.values);
  EXPECT_EQ(file.columns, again.columns);
  EXPECT_EQ(file.classes, again.classes);
}

}  // namespace
}  // namespace hogbatch
