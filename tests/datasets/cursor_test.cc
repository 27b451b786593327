#include "datasets/cursor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

namespace hogbatch {
namespace {

std::vector<Cursor::EpochRows> TakeAll(Cursor& cursor, std::int64_t max_rows,
                                       std::int64_t grain = 1) {
  std::vector<Cursor::EpochRows> cuts;
  while (const auto cut = cursor.Next(max_rows, grain)) cuts.push_back(*cut);
  return cuts;
}

// How often each row was handed out in each epoch.
std::map<std::int64_t, std::vector<int>> CountRows(const std::vector<Cursor::EpochRows>& cuts,
                                                   std::int64_t rows) {
  std::map<std::int64_t, std::vector<int>> counts;
  for (const Cursor::EpochRows& cut : cuts) {
    std::vector<int>& epoch = counts[cut.epoch];
    epoch.resize(rows);
    for (std::int64_t row = cut.rows.begin; row < cut.rows.end; ++row) {
      ++epoch.at(static_cast<std::size_t>(row));
    }
  }
  return counts;
}

TEST(Cursor, HandsOutEveryRowOnceAnEpoch) {
  for (const std::int64_t rows : {1, 5, 63, 64, 97, 1000, 5000, 100000}) {
    Cursor cursor(rows, 3, 7);
    EXPECT_EQ(cursor.remaining(), 3 * rows);
    const auto counts = CountRows(TakeAll(cursor, 37), rows);
    ASSERT_EQ(counts.size(), 3U) << rows;
    for (const auto& [epoch, count] : counts) {
      EXPECT_EQ(std::count(count.begin(), count.end(), 1), rows) << rows << " epoch " << epoch;
    }
    EXPECT_EQ(cursor.remaining(), 0);
  }
}

TEST(Cursor, EndsWithinAnEpochWhenEpochsAreFractional) {
  Cursor cursor(1000, 1.25, 7);
  EXPECT_EQ(cursor.remaining(), 1250);
  const auto counts = CountRows(TakeAll(cursor, 64), 1000);
  ASSERT_EQ(counts.size(), 2U);
  EXPECT_EQ(std::count(counts.at(0).begin(), counts.at(0).end(), 1), 1000);
  EXPECT_EQ(std::count(counts.at(1).begin(), counts.at(1).end(), 1), 250);
}

TEST(Cursor, HandsOutNothingForNoEpochsOrNoRows) {
  EXPECT_FALSE(Cursor(100, 0, 1).Next(10));
  EXPECT_FALSE(Cursor(0, 5, 1).Next(10));
}

TEST(Cursor, RepeatsForASeedAndDiffersBetweenSeeds) {
  const auto begins = [](std::uint64_t seed) {
    Cursor cursor(10000, 2, seed);
    std::vector<std::int64_t> result;
    for (const Cursor::EpochRows& cut : TakeAll(cursor, 50)) result.push_back(cut.rows.begin);
    return result;
  };
  EXPECT_EQ(begins(3), begins(3));
  EXPECT_NE(begins(3), begins(4));
}

TEST(Cursor, OrdersAndCutsBlocksAnewEveryEpoch) {
  Cursor cursor(10000, 2, 3);
  std::map<std::int64_t, std::vector<std::int64_t>> begins;
  for (const Cursor::EpochRows& cut : TakeAll(cursor, 1 << 20)) {
    begins[cut.epoch].push_back(cut.rows.begin);
  }
  EXPECT_NE(begins[0], begins[1]);
  for (auto& [epoch, list] : begins) std::sort(list.begin(), list.end());
  EXPECT_NE(begins[0], begins[1]) << "the same blocks in another order";
}

TEST(Cursor, CutsBlocksOfAboutAnEighthOfTheRows) {
  for (const auto& [rows, size] :
       {std::pair<std::int64_t, std::int64_t>{100, 1024}, {64000, 8000}, {10000000, 65536}}) {
    Cursor cursor(rows, 1, 5);
    for (const Cursor::EpochRows& cut : TakeAll(cursor, rows)) {
      EXPECT_GE(2 * cut.rows.size(), std::min(size, rows));
      EXPECT_LE(cut.rows.size(), 2 * size);
    }
  }
}

TEST(Cursor, KeepsRangesToTheRowsAskedFor) {
  Cursor cursor(5000, 1, 5);
  for (const Cursor::EpochRows& cut : TakeAll(cursor, 48)) EXPECT_LE(cut.rows.size(), 48);
}

TEST(Cursor, HandsOutASmallRemainderWithTheRangeBeforeIt) {
  Cursor cursor(4736, 2, 5);  // its blocks are no whole numbers of ranges
  std::int64_t longest = 0;
  for (const Cursor::EpochRows& cut : TakeAll(cursor, 48, 16)) {
    EXPECT_GE(cut.rows.size(), 8);
    EXPECT_LT(cut.rows.size(), 48 + 8);
    longest = std::max(longest, cut.rows.size());
  }
  EXPECT_GT(longest, 48);
}

TEST(Cursor, HandsOutReturnedRowsFirstAndCountsThem) {
  Cursor cursor(1000, 1, 9);
  const auto first = cursor.Next(40);
  const auto second = cursor.Next(40);
  ASSERT_TRUE(first && second);
  ASSERT_EQ(first->rows.size(), 40);
  cursor.Return(*first);
  EXPECT_EQ(cursor.remaining(), 1000 - second->rows.size());
  const auto again = cursor.Next(25);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->rows, (RowRange{first->rows.begin, first->rows.begin + 25}));
  EXPECT_EQ(again->epoch, first->epoch);
  EXPECT_EQ(cursor.Next(25)->rows, (RowRange{first->rows.begin + 25, first->rows.end}));
  EXPECT_EQ(cursor.remaining(), 1000 - 40 - second->rows.size());
}

TEST(Cursor, HandsOutRowsReturnedAfterTheEnd) {
  Cursor cursor(100, 0.5, 9);
  const std::vector<Cursor::EpochRows> cuts = TakeAll(cursor, 20);
  cursor.Return(cuts.front());
  cursor.Return(cuts.back());
  EXPECT_EQ(cursor.Next(100)->rows, cuts.front().rows);
  EXPECT_EQ(cursor.Next(100)->rows, cuts.back().rows);
  EXPECT_FALSE(cursor.Next(100));
}

}  // namespace
}  // namespace hogbatch
