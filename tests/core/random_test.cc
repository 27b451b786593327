#include "core/random.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace hogbatch {
namespace {

TEST(Random, RepeatsForASeedAndDiffersBetweenStreams) {
  Random a(7, 1), b(7, 1), c(7, 2);
  const std::uint64_t first = a.Next();
  EXPECT_EQ(first, b.Next());
  EXPECT_NE(first, c.Next());
}

TEST(Random, DrawsNormalNumbersOfMeanZeroAndDeviationOne) {
  Random random(3);
  double sum = 0, squares = 0;
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.Normal();
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.02);
  EXPECT_NEAR(squares / kDraws, 1, 0.03);
}

TEST(Random, PermutesEveryElementOnce) {
  std::vector<std::int64_t> order = Random(5).Permutation(1000);
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  for (std::int64_t i = 0; i < 1000; ++i) EXPECT_EQ(order[i], i);
}

}  // namespace
}  // namespace hogbatch
