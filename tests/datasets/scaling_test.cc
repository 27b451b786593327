#include "datasets/encoding/scaling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/datasets/reading.h"

namespace hogbatch {
namespace {

constexpr ReadOptions AllRows(ScalingKind kind) { return {.scaling = kind, .valid_fraction = 0}; }

Dataset Scale(const std::string& text, ScalingKind kind) {
  return Apply(text, Learn(text, AllRows(kind)).schema);
}

TEST(Scaling, MinMaxBringsColumnsToZeroAndOne) {
  const Dataset read = Scale("2,-1,0\n4,3,1\n3,1,1\n", ScalingKind::kMinMax);
  EXPECT_EQ(DenseRow(read, 0), (Rows{0, 0}));
  EXPECT_EQ(DenseRow(read, 1), (Rows{1, 1}));
  EXPECT_EQ(DenseRow(read, 2), (Rows{0.5F, 0.5F}));
}

TEST(Scaling, StandardGivesMeanZeroAndDeviationOne) {
  const Dataset read = Scale("1,0\n2,1\n3,0\n6,1\n", ScalingKind::kStandard);
  double sum = 0, squares = 0;
  for (std::int64_t i = 0; i < 4; ++i) {
    const float value = DenseRow(read, i)[0];
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum, 0, 1e-6);
  EXPECT_NEAR(squares / 4, 1, 1e-6);
}

TEST(Scaling, MaxAbsKeepsZerosAndSigns) {
  const Dataset read = Scale("1 1:-4 9:8\n0 1:2\n", ScalingKind::kMaxAbs);
  EXPECT_EQ(DenseRow(read, 0)[0], -1);
  EXPECT_EQ(DenseRow(read, 0)[8], 1);
  EXPECT_EQ(DenseRow(read, 1)[0], 0.5F);
  EXPECT_EQ(read.values.size(), 3U);
}

TEST(Scaling, CountsZerosThatAreNotStored) {
  std::string text = "1 1:2 2:6 30:1\n";
  for (int i = 0; i < 3; ++i) text += "0 2:2 30:1\n";
  const TrainingData standard = Learn(text, AllRows(ScalingKind::kStandard));
  EXPECT_FLOAT_EQ(standard.schema.shift[0], 0.5F);
  EXPECT_FLOAT_EQ(standard.schema.scale[0], static_cast<float>(1 / std::sqrt(0.75)));
  const TrainingData minmax = Learn(text, AllRows(ScalingKind::kMinMax));
  EXPECT_EQ(minmax.schema.shift[0], 0);
  EXPECT_EQ(minmax.schema.shift[1], 2);
}

// The same rows and scaling by the dense and by the sparse path.
TEST(Scaling, TreatsSparseRowsExactlyLikeDenseOnes) {
  std::string text;
  for (int row = 0; row < 40; ++row) {
    text += std::to_string(row % 2);
    for (int column = 1; column <= 60; column += 1 + (row * 7 + column) % 23) {
      text += fmt::format(" {}:{}", column, (row * column) % 13 - 4);
    }
    text += " 61:5\n";
  }
  for (const ScalingKind kind :
       {ScalingKind::kMinMax, ScalingKind::kStandard, ScalingKind::kMaxAbs}) {
    const Schema schema = Learn(text, AllRows(kind)).schema;
    Schema unscaled = schema;
    unscaled.shift.clear();
    unscaled.scale.clear();
    Dataset sparse = Apply(text, unscaled);
    ASSERT_TRUE(sparse.is_sparse);
    Dataset dense = sparse;
    ConvertStorage(dense, Storage::kDense);
    ApplyScaling(schema, 0, sparse);
    ApplyScaling(schema, 0, dense);
    ConvertStorage(sparse, Storage::kDense);
    ConvertStorage(dense, Storage::kDense);
    EXPECT_EQ(sparse.dense, dense.dense) << Name(kind);
  }
}

TEST(Scaling, KeepsRowsSparseWhenFewZerosAreFilledIn) {
  std::string text;
  for (int row = 0; row < 50; ++row) {
    text += fmt::format("{} 1:{} {}:3 352:1\n", row % 2, row % 3 - 1, 2 + row * 7);
  }
  const TrainingData read = Learn(text, AllRows(ScalingKind::kMinMax));
  EXPECT_TRUE(read.data.is_sparse);
  // Column 1 holds -1, 0 and 1, so its zeros become a half.
  const Dataset again = Apply(text, read.schema);
  EXPECT_EQ(DenseRow(again, 0)[0], 0);
  EXPECT_EQ(DenseRow(again, 1)[0], 0.5F);
  EXPECT_EQ(DenseRow(again, 2)[0], 1);
  for (std::size_t row = 0; row < 50; ++row) {
    const auto begin = again.columns.begin() + again.offsets[row];
    EXPECT_TRUE(std::is_sorted(begin, again.columns.begin() + again.offsets[row + 1]));
  }
}

TEST(Scaling, BecomesDenseWhenThatIsSmaller) {
  std::string text;
  for (int row = 0; row < 40; ++row) {
    text += fmt::format("{} {}:-3\n", row % 2, 1 + row);
  }
  EXPECT_TRUE(Learn(text, AllRows(ScalingKind::kMaxAbs)).data.is_sparse);
  EXPECT_FALSE(Learn(text, AllRows(ScalingKind::kMinMax)).data.is_sparse);
}

TEST(Scaling, MakesConstantColumnsZero) {
  for (const ScalingKind kind :
       {ScalingKind::kMinMax, ScalingKind::kStandard, ScalingKind::kMaxAbs}) {
    const Dataset read = Scale("7,1,0\n7,2,1\n", kind);
    EXPECT_EQ(DenseRow(read, 0)[0], 0) << Name(kind);
    EXPECT_EQ(DenseRow(read, 1)[0], 0) << Name(kind);
  }
  EXPECT_EQ(DenseRow(Scale("7,1,0\n7,2,1\n", ScalingKind::kNone), 0)[0], 7);
}

TEST(Scaling, LearnsOnTrainingRowsOnly) {
  std::string text;
  for (int row = 0; row < 100; ++row) {
    text += std::to_string(row * 2) + "," + std::to_string(row % 2) + "\n";
  }
  const TrainingData read =
      Learn(text, {.scaling = ScalingKind::kMinMax, .valid_fraction = 0.5, .seed = 4});
  float train_max = 0, valid_max = 0, valid_min = 1;
  for (std::int64_t i = 0; i < 100; ++i) {
    const float value = DenseRow(read.data, i)[0];
    if (i < read.train_rows) train_max = std::max(train_max, value);
    if (i >= read.train_rows) valid_max = std::max(valid_max, value);
    if (i >= read.train_rows) valid_min = std::min(valid_min, value);
  }
  EXPECT_FLOAT_EQ(train_max, 1);
  EXPECT_TRUE(valid_max > 1.001F || valid_min < -0.001F) << "an extreme value is for validation";
}

Schema AutoSchema(const std::string& text) {
  return Learn(text, AllRows(ScalingKind::kAuto)).schema;
}

TEST(Scaling, AutoStandardisesDenseColumnsWhateverTheirRange) {
  for (const char* text : {"0.25,1,0\n0.75,3,1\n", "1000,-5,0\n3000,5,1\n", "1 1:2\n0 1:1\n"}) {
    const TrainingData read = Learn(text, AllRows(ScalingKind::kAuto));
    EXPECT_EQ(read.schema.scaling, ScalingKind::kStandard) << text;
    EXPECT_EQ(std::abs(DenseRow(read.data, 0)[0]), 1) << text;
    EXPECT_EQ(DenseRow(read.data, 0)[0], -DenseRow(read.data, 1)[0]) << text;
  }
}

TEST(Scaling, AutoLeavesSparseDataWithinOneAlone) {
  const Schema schema = AutoSchema("1 1:-1\n0 2:0.5\n1 3:1\n");
  EXPECT_EQ(schema.scaling, ScalingKind::kNone);
  EXPECT_TRUE(schema.scale.empty());
}

TEST(Scaling, AutoKeepsTheZerosOfSparseData) {
  const Schema schema = AutoSchema("1 1:-4\n0 2:0.5\n1 3:1\n");
  EXPECT_EQ(schema.scaling, ScalingKind::kMaxAbs);
  EXPECT_EQ(schema.shift, (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(schema.scale, (std::vector<float>{0.25F, 2, 1}));
}

// A number and a one-hot column beside each other.
TEST(Scaling, AutoChoosesForEachColumn) {
  const TrainingData read = Learn("10,0,0\n20,1,1\n10,0,0\n20,0,1\n", AllRows(ScalingKind::kAuto));
  EXPECT_EQ(read.schema.scaling, ScalingKind::kAuto);
  EXPECT_EQ(read.schema.shift, (std::vector<float>{15, 0}));
  EXPECT_EQ(read.schema.scale, (std::vector<float>{0.2F, 1}));
  const Dataset again = Apply("10,1,0\n", read.schema);
  EXPECT_EQ(DenseRow(again, 0), (Rows{-1, 1}));
}

TEST(Scaling, AutoMakesConstantColumnsZero) {
  const TrainingData read = Learn("7,1,0\n7,2,1\n", AllRows(ScalingKind::kAuto));
  EXPECT_EQ(DenseRow(read.data, 0)[0], 0);
  EXPECT_EQ(DenseRow(read.data, 1)[0], 0);
}

TEST(Scaling, KeepsValuesFarOutsideTheTrainingRowsFinite) {
  const Schema schema = Learn("0,0\n1e-30,1\n", AllRows(ScalingKind::kMinMax)).schema;
  EXPECT_TRUE(std::isfinite(DenseRow(Apply("3e38,1\n", schema), 0)[0]));
}

TEST(Scaling, RefusesToFillInMoreZerosThanMemoryHolds) {
  std::string text;
  for (int row = 0; row < 3000; ++row) {
    text += std::to_string(row % 2);
    for (int i = 0; i < 6; ++i) text += fmt::format(" {}:-2", 1 + (row * 6 + i) * 65536);
    text += "\n";
  }
  Schema schema = Learn(text, AllRows(ScalingKind::kMaxAbs)).schema;
  Dataset data = Apply(text, schema);
  data.rows = std::int64_t{1} << 31;  // only counted before anything is allocated
  std::fill(schema.shift.begin(), schema.shift.end(), 1.0F);
  const std::string error = ErrorOf([&] { ApplyScaling(schema, 0, data); });
  EXPECT_NE(error.find("use --scale maxabs"), std::string::npos) << error;
}

TEST(Scaling, HasNamesThatParse) {
  EXPECT_EQ(ScalingWords().words,
            (std::vector<std::string>{"auto", "none", "minmax", "standard", "maxabs"}));
  for (const std::string& name : ScalingWords().words) {
    EXPECT_EQ(Name(ParseScaling(name)), name);
  }
  EXPECT_THROW(ParseScaling("log"), UserError);
}

}  // namespace
}  // namespace hogbatch
