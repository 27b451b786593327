#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <span>

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

TEST(Split, GivesEveryClassItsShare) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += fmt::format("{} 1:{}\n", i % 100 == 0 ? 1 : 0, i);
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const TrainingData read = Learn(text, {.valid_fraction = 0.2, .seed = seed});
    ASSERT_EQ(read.train_rows, 800);
    const auto valid = std::span(read.data.classes).subspan(800);
    EXPECT_EQ(std::ranges::count(valid, 1), 2) << "of ten rows";
  }
}

// Tables whose rows have a group and a day.
std::string TableOfGroups(int rows) {
  std::string text = "x,group,day,y\n";
  for (int i = 0; i < rows; ++i) {
    text += fmt::format("{},g{},2024-{:02}-{:02},{}\n", i * 7 % 101, i % 13, i % 12 + 1, i % 28 + 1,
                        i % 2);
  }
  return text;
}

// The first feature of the rows, which is unique up to 101 rows.
std::vector<float> FirstOf(const TrainingData& read, std::int64_t begin, std::int64_t end) {
  std::vector<float> values;
  for (std::int64_t i = begin; i < end; ++i) values.push_back(DenseRow(read.data, i)[0]);
  return values;
}

TEST(Split, KeepsGroupsTogether) {
  const TrainingData read =
      Learn(TableOfGroups(101),
            {.scaling = ScalingKind::kNone, .valid_fraction = 0.3, .split_by = "group"});
  EXPECT_EQ(read.schema.table[1].reason, "it splits the rows");
  std::set<int> train, valid;
  const auto group = [](float x) {  // of the row i with 7 i = x modulo 101
    for (int i = 0; i < 101; ++i) {
      if (i * 7 % 101 == static_cast<int>(x)) return i % 13;
    }
    return -1;
  };
  for (const float x : FirstOf(read, 0, read.train_rows)) train.insert(group(x));
  for (const float x : FirstOf(read, read.train_rows, read.data.rows)) valid.insert(group(x));
  EXPECT_EQ(train.size() + valid.size(), 13u) << "no group is on both sides";
  EXPECT_GE(read.data.rows - read.train_rows, 30);
  EXPECT_TRUE(
      Begins(LearnError(TableOfGroups(20), {.split_by = "z"}), "in.txt: --split-by names 'z'"));
  EXPECT_EQ(LearnError("1 1:1\n0 1:2\n", {.split_by = "1"}),
            "in.txt: only a table has columns with names; leave out --split-by");
  EXPECT_EQ(LearnError("1 1:1\n0 1:2\n", {.ignore = {"1"}}),
            "in.txt: only a table has columns with names; leave out --ignore");
}

TEST(Split, ValidatesOnTheLatestRows) {
  const TrainingData read =
      Learn(TableOfGroups(101),
            {.scaling = ScalingKind::kNone, .valid_fraction = 0.2, .split_time = "day"});
  const auto month = [](float x) {
    for (int i = 0; i < 101; ++i) {
      if (i * 7 % 101 == static_cast<int>(x)) return i % 12 + 1;
    }
    return -1;
  };
  int latest_trained = 0, earliest_valid = 13;
  for (const float x : FirstOf(read, 0, read.train_rows)) {
    latest_trained = std::max(latest_trained, month(x));
  }
  for (const float x : FirstOf(read, read.train_rows, read.data.rows)) {
    earliest_valid = std::min(earliest_valid, month(x));
  }
  EXPECT_LE(latest_trained, earliest_valid);
  EXPECT_EQ(LearnError("a,t,y\n1,2024-01-01,0\n2,soon,1\n", {.split_time = "t"}),
            "in.txt:3:3: 'soon' is neither a date nor a number, as --split-time needs; correct it, "
            "or remove the row");
}

TEST(Split, FoldsMeetEachRowOnceAndGiveEveryClassItsShare) {
  std::string text;
  for (int i = 0; i < 1003; ++i) text += fmt::format("{} 1:{}\n", i % 50 == 0 ? 1 : 0, i + 1);
  std::vector<float> validated;
  for (std::int64_t fold = 0; fold < 4; ++fold) {
    const TrainingData read =
        Learn(text, {.scaling = ScalingKind::kNone, .valid_fraction = 0, .fold = {fold, 4}});
    const std::int64_t rows = read.data.rows - read.train_rows;
    EXPECT_GE(rows, 250);
    EXPECT_LE(rows, 251);
    const auto classes = std::span(read.data.classes).subspan(read.train_rows);
    EXPECT_GE(std::ranges::count(classes, 1), 5) << "of 21 rows";
    EXPECT_LE(std::ranges::count(classes, 1), 6);
    for (const float x : FirstOf(read, read.train_rows, read.data.rows)) validated.push_back(x);
  }
  std::ranges::sort(validated);
  ASSERT_EQ(validated.size(), 1003u);
  for (std::size_t i = 0; i < validated.size(); ++i) {
    EXPECT_EQ(validated[i], static_cast<float>(i + 1));
  }
}

TEST(Split, FoldsKeepGroupsTogetherAndValuesShareAlike) {
  std::multiset<float> validated;
  std::size_t largest = 0;
  for (std::int64_t fold = 0; fold < 3; ++fold) {
    const TrainingData read =
        Learn(TableOfGroups(101),
              {.scaling = ScalingKind::kNone, .fold = {fold, 3}, .split_by = "group"});
    const std::vector<float> valid = FirstOf(read, read.train_rows, read.data.rows);
    validated.insert(valid.begin(), valid.end());
    largest = std::max(largest, valid.size());
  }
  EXPECT_EQ(validated.size(), 101u);
  EXPECT_EQ(std::set<float>(validated.begin(), validated.end()).size(), 101u);
  EXPECT_LE(largest, 42u);  // a third, and a group of up to 8 rows
  std::string values;
  for (int i = 0; i < 100; ++i) values += fmt::format("{}.5 1:{}\n", i, i + 1);
  EXPECT_EQ(Learn(values, {.fold = {0, 3}}).train_rows, 66);
  EXPECT_EQ(Learn(values, {.fold = {2, 3}}).train_rows, 67);
}

TEST(Split, LearnsEachFoldFromTheRowsItTrainsOn) {
  // Only one row has the word "rare" and the number 1000: the fold that validates on it must not
  // know either.
  std::string text = "x,word,y\n";
  for (int i = 0; i < 40; ++i) {
    text += i == 17 ? "1000,rare,1\n" : fmt::format("{},w{},{}\n", i % 5, i % 3, i % 2);
  }
  int knows_rare = 0, knows_thousand = 0;
  for (std::int64_t fold = 0; fold < 4; ++fold) {
    const TrainingData read =
        Learn(text, {.scaling = ScalingKind::kMinMax, .fold = {fold, 4}, .categorical = {"word"}});
    if (read.schema.features == 5) ++knows_rare;  // x, and one for each word
    float largest = 0;
    for (const float x : FirstOf(read, 0, read.data.rows)) largest = std::max(largest, x);
    if (largest == 1) ++knows_thousand;
  }
  EXPECT_EQ(knows_rare, 3);
  EXPECT_EQ(knows_thousand, 3);
}

TEST(Split, RefusesFoldsWithoutRows) {
  EXPECT_EQ(LearnError("1 1:1\n0 1:2\n1 1:3\n", {.fold = {3, 5}}),
            "in.txt: 3 rows are too few for 5 folds; make fewer");
  EXPECT_EQ(LearnError(TableOfGroups(101), {.fold = {14, 15}, .split_by = "group"}),
            "in.txt: the groups of --split-by group are too few for 15 folds; make fewer");
  const Fold fold = ParseFold("2/5");
  EXPECT_EQ(fold.number, 1);
  EXPECT_EQ(fold.of, 5);
  EXPECT_FALSE(ParseFold(""));
  for (const char* text : {"0/5", "6/5", "1/1", "1/", "/5", "1/5x", "one/5", "5", "1/1001", "-1/5",
                           "1/9223372036854775808"}) {
    EXPECT_THROW(ParseFold(text), UserError) << text;
  }
}

}  // namespace
}  // namespace hogbatch
