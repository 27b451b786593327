#include <gtest/gtest.h>

#include "tests/datasets/reading.h"

namespace hogbatch {
namespace {

// Row i has the single feature i and the label i % 2.
std::string Numbered(int rows) {
  std::string text;
  for (int i = 0; i < rows; ++i) {
    text += std::to_string(i % 2) + " 1:" + std::to_string(i) + " 2:1\n";
  }
  return text;
}

std::vector<float> Order(const TrainingData& read) {
  Dataset data = read.data;
  ConvertStorage(data, Storage::kDense);
  std::vector<float> order;
  for (std::size_t i = 0; i < data.dense.size(); i += 2) order.push_back(data.dense[i]);
  return order;
}

TEST(Split, PermutesRowsWithTheirLabels) {
  const TrainingData read = Learn(Numbered(1000), {.scaling = ScalingKind::kNone});
  std::vector<float> order = Order(read);
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  for (std::size_t i = 0; i < order.size(); ++i) {
    EXPECT_EQ(read.data.classes[i], static_cast<int>(order[i]) % 2);
  }
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], static_cast<float>(i));
}

TEST(Split, RepeatsForASeed) {
  const auto order = [](std::uint64_t seed) {
    return Order(Learn(Numbered(100), {.scaling = ScalingKind::kNone, .seed = seed}));
  };
  EXPECT_EQ(order(1), order(1));
  EXPECT_NE(order(1), order(2));
}

TEST(Split, LeavesAtLeastARowOnEachSide) {
  const auto train_rows = [](int rows, double fraction) {
    return Learn(Numbered(rows), {.valid_fraction = fraction}).train_rows;
  };
  EXPECT_EQ(train_rows(1000, 0.1), 900);
  EXPECT_EQ(train_rows(1000, 0), 1000);
  EXPECT_EQ(train_rows(2, 0.1), 1);
  EXPECT_EQ(train_rows(3, 0.01), 2);
  EXPECT_EQ(train_rows(3, 0.99), 1);
  EXPECT_EQ(train_rows(3, 1), 1);
}

}  // namespace
}  // namespace hogbatch
