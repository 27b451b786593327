#include "datasets/builtin.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/datasets/reading.h"

namespace hogbatch {
namespace {

TEST(Builtin, HasTheRowsFeaturesAndClassesOfCovtype) {
  const TrainingData read = ReadTrainingData("", {});
  EXPECT_EQ(read.data.source, "covtype-50k (built in)");
  EXPECT_EQ(read.data.rows, 50000);
  EXPECT_EQ(read.train_rows, 45000);
  EXPECT_EQ(read.data.features, 53) << "10 numbers, 4 and 38 categories, and one for rare soils";
  EXPECT_EQ(read.schema.format, FileFormat::kCsv);
  EXPECT_EQ(read.schema.table[10].categories.size(), 4u);
  EXPECT_EQ(read.schema.table[11].kind, ColumnKind::kCategory);
  EXPECT_EQ(read.schema.label_names, (std::vector<std::string>{"1", "2", "3", "4", "5", "6", "7"}));
}

TEST(Builtin, TurnsWildernessAndSoilIntoOneHotFeaturesThatScalingLeavesAlone) {
  const TrainingData read = ReadTrainingData("", {.scaling = ScalingKind::kStandard});
  for (std::size_t i = 10; i < 53; ++i) {
    EXPECT_EQ(read.schema.shift[i], 0);
    EXPECT_EQ(read.schema.scale[i], 1);
  }
  Dataset data = read.data;
  ConvertStorage(data, Storage::kDense);
  for (std::size_t row = 0; row < 1000; ++row) {
    const float* values = data.dense.data() + row * 53;
    EXPECT_EQ(std::count(values + 10, values + 14, 1.0F), 1);
    EXPECT_EQ(std::count(values + 14, values + 53, 1.0F), 1);
    EXPECT_EQ(std::count(values + 10, values + 53, 0.0F), 41);
  }
}

TEST(Builtin, LendsItsCategoriesToFilesReadWithItsSchema) {
  const Schema schema = ReadTrainingData("", {.scaling = ScalingKind::kNone}).schema;
  const Dataset read = Apply("3198,187,17,240,19,2850,220,250,158,1034,3,32,2\n", schema);
  const std::vector<float> row = DenseRow(read, 0);
  EXPECT_EQ(row[0], 3198);
  EXPECT_EQ(row[10 + 2], 1);
  const std::vector<std::string>& soils = schema.table[11].categories;
  EXPECT_EQ(row[14 + static_cast<std::size_t>(std::ranges::find(soils, "32") - soils.begin())], 1);
  EXPECT_EQ(read.classes, std::vector<std::int32_t>{1});
}

TEST(Builtin, KnowsItsLabelColumn) {
  EXPECT_TRUE(Begins(ErrorOf([] { ReadTrainingData("", {.label = "first"}); }),
                     "covtype-50k (built in): its label is its last column"));
}

}  // namespace
}  // namespace hogbatch
