#include "datasets/synthetic.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace hogbatch {
namespace {

TEST(Synthetic, HasTheShapeAskedFor) {
  const TrainingData dense = MakeSynthetic({.rows = 100, .features = 7, .classes = 3});
  EXPECT_EQ(dense.data.dense.size(), 700U);
  EXPECT_EQ(dense.train_rows, 90);
  EXPECT_EQ(dense.schema.outputs(), 3);
  const TrainingData sparse = MakeSynthetic({.rows = 100, .features = 500, .nonzeros = 9});
  EXPECT_EQ(sparse.data.values.size(), 900U);
  for (std::size_t row = 0; row < 100; ++row) {
    const auto begin = sparse.data.columns.begin() + sparse.data.offsets[row];
    EXPECT_TRUE(std::is_sorted(begin, begin + 9));
    EXPECT_EQ(std::adjacent_find(begin, begin + 9), begin + 9);
  }
}

TEST(Synthetic, UsesEveryClass) {
  const TrainingData read = MakeSynthetic({.rows = 2000, .features = 10, .classes = 4});
  for (std::int32_t k = 0; k < 4; ++k) {
    EXPECT_GT(std::count(read.data.classes.begin(), read.data.classes.end(), k), 50);
  }
}

TEST(Synthetic, MakesSetsAndValues) {
  const TrainingData sets =
      MakeSynthetic({.rows = 100, .classes = 5, .label_kind = LabelKind::kMultiLabel});
  EXPECT_EQ(sets.data.label_offsets.size(), 101U);
  EXPECT_EQ(sets.data.label_offsets.back(), static_cast<std::int64_t>(sets.data.labels.size()));
  const TrainingData values =
      MakeSynthetic({.rows = 100, .classes = 1, .label_kind = LabelKind::kValue});
  EXPECT_EQ(values.data.targets.size(), 100U);
  EXPECT_EQ(values.schema.outputs(), 1);
}

TEST(Synthetic, RepeatsForASeed) {
  EXPECT_EQ(MakeSynthetic({.seed = 5}).data.dense, MakeSynthetic({.seed = 5}).data.dense);
  EXPECT_NE(MakeSynthetic({.seed = 5}).data.dense, MakeSynthetic({.seed = 6}).data.dense);
}

}  // namespace
}  // namespace hogbatch
