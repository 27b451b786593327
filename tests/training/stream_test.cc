// Data that is larger than the memory for it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/error.h"
#include "tests/support/process.h"
#include "training/cache/stream_data.h"

namespace hogbatch {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kMemory = std::int64_t{4} << 20;

class Stream : public testing::Test {
 protected:
  std::string Path(const std::string& name, const std::string& text) const {
    return folder_.path() + "/" + folder_.Write(name, text);
  }
  TrainingData Read(const StreamSource& source) {
    return ReadStream(source, cache_, [&](std::string_view what) { told_.emplace_back(what); });
  }
  std::string ErrorOf(const StreamSource& source) {
    try {
      Read(source);
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  }

  TemporaryFolder folder_;
  DataCache cache_{folder_.path() + "/cache"};
  std::vector<std::string> told_;
};

// Rows i, a word, and whether i is odd: several times the memory.
std::string Table(int rows) {
  std::string text = "i,word,filler,odd\n";
  for (int i = 0; i < rows; ++i) {
    text += std::to_string(i) + ",w" + std::to_string(i % 3) + "," + std::string(40, '7') + "," +
            (i % 2 ? "yes" : "no") + "\n";
  }
  return text;
}
constexpr int kTableRows = 300000;

ReadOptions Options() {
  ReadOptions read{.scaling = ScalingKind::kNone, .ignore = {"filler"}, .keep = {"i"}};
  read.memory_bytes = kMemory;
  return read;
}

// The numbers of the rows in [begin, end).
std::vector<int> NumbersIn(const Dataset& data, std::int64_t begin, std::int64_t end) {
  std::vector<int> numbers;
  for (std::int64_t row = begin; row < end; ++row) {
    if (data.is_sparse) {
      const std::int64_t at = data.offsets[row];
      numbers.push_back(data.columns[at] == 0 ? static_cast<int>(data.values[at]) : 0);
    } else {
      numbers.push_back(static_cast<int>(data.dense[row * data.features]));
    }
  }
  return numbers;
}

TEST_F(Stream, HasEveryRowOnceInRandomOrder) {
  const StreamSource source{
      .data = Path("rows.csv", Table(kTableRows)), .valid = "", .read = Options()};
  const TrainingData read = Read(source);
  const Dataset& data = read.data;
  ASSERT_EQ(data.rows, kTableRows);
  EXPECT_NEAR(static_cast<double>(read.train_rows), 0.9 * kTableRows, 0.01 * kTableRows);
  const std::vector<int> numbers = NumbersIn(data, 0, data.rows);
  std::vector<int> sorted = numbers;
  std::ranges::sort(sorted);
  for (int i = 0; i < kTableRows; ++i) ASSERT_EQ(sorted[i], i);
  int followers = 0;
  for (std::size_t i = 1; i < numbers.size(); ++i) followers += numbers[i] == numbers[i - 1] + 1;
  EXPECT_LT(followers, 100) << "rows follow each other as in the file";
  for (std::int64_t row = 0; row < data.rows; ++row) {
    ASSERT_EQ(read.schema.label_names[data.classes[row]], numbers[row] % 2 ? "yes" : "no");
  }
  EXPECT_TRUE(data.classes.is_mapped());
  EXPECT_THAT(data.notes.back(), HasSubstr("were learnt from"));
}

TEST_F(Stream, IsReadAtOnceTheSecondTime) {
  const StreamSource source{.data = Path("rows.csv", Table(1000)), .valid = "", .read = Options()};
  const TrainingData first = Read(source);
  EXPECT_FALSE(told_.empty());
  told_.clear();
  const TrainingData second = Read(source);
  EXPECT_TRUE(told_.empty());
  EXPECT_EQ(first.data.classes, second.data.classes);
  EXPECT_EQ(first.train_rows, second.train_rows);
}

TEST_F(Stream, CountsRowsWithoutALabelInTheWholeFile) {
  std::string text = "a,b,y\n";
  for (int i = 0; i < 60000; ++i) {
    const bool has_label = i % 10 != 0 && (i < 20000 || i >= 40000);  // a block may have none
    text += std::to_string(i) + "," + std::string(40, '7') +
            (has_label ? i % 2 ? ",yes" : ",no" : ",") + "\n";
  }
  const StreamSource source{
      .data = Path("rows.csv", text), .valid = "", .read = {.memory_bytes = kMemory}};
  const TrainingData read = Read(source);
  EXPECT_EQ(read.data.rows, 36000);
  EXPECT_THAT(read.data.notes,
              testing::Contains("skipped   24,000 of 60,000 rows, which have no label"));
  EXPECT_THAT(Read(source).data.notes, testing::Contains(HasSubstr("skipped   24,000")))
      << "from the cache";
}

TEST_F(Stream, SaysWhatToDoAboutAClassThatTheSampleLacks) {
  std::string text = Table(kTableRows);
  text.replace(text.rfind("yes"), 3, "new");
  const StreamSource source{.data = Path("rows.csv", text), .valid = "", .read = Options()};
  EXPECT_THAT(ErrorOf(source),
              HasSubstr("rows.csv:300001:52: label 'new' does not occur in the sample of "
                        "rows that --stream takes; raise --memory-limit"));
}

TEST_F(Stream, ValidatesOnTheRowsOfAFile) {
  const StreamSource source{.data = Path("rows.csv", Table(1000)),
                            .valid = Path("valid.csv", Table(10)),
                            .read = Options()};
  const TrainingData read = Read(source);
  EXPECT_EQ(read.train_rows, 1000);
  ASSERT_EQ(read.data.rows, 1010);
  std::vector<int> valid = NumbersIn(read.data, 1000, 1010);
  std::ranges::sort(valid);
  EXPECT_EQ(valid, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST_F(Stream, OfSparseRowsKnowsFeaturesThatNoPieceOfTheSampleHas) {
  std::string text;
  for (int i = 0; i < 200000; ++i) {
    text += std::to_string(i % 3) + "," + std::to_string(3 + i % 2) + " 1:" + std::to_string(i + 1);
    if (i == 150001) text += " 70:5";
    text += '\n';
  }
  const StreamSource source{.data = Path("rows.svm", text),
                            .valid = "",
                            .read = {.scaling = ScalingKind::kNone, .memory_bytes = kMemory}};
  const TrainingData read = Read(source);
  const Dataset& data = read.data;
  EXPECT_EQ(read.schema.features, 70);
  EXPECT_EQ(read.schema.label_kind, LabelKind::kMultiLabel);
  ASSERT_EQ(data.rows, 200000);
  std::vector<int> seen(200000);
  for (std::int64_t row = 0; row < data.rows; ++row) {
    std::vector<float> dense(70, 0);
    if (data.is_sparse) {
      for (std::int64_t i = data.offsets[row]; i < data.offsets[row + 1]; ++i) {
        dense[data.columns[i]] = data.values[i];
      }
    } else {
      std::copy_n(data.dense.data() + row * 70, 70, dense.begin());
    }
    const int i = static_cast<int>(dense[0]) - 1;
    ++seen[i];
    ASSERT_EQ(dense[69], i == 150001 ? 5 : 0);
    ASSERT_EQ(data.label_offsets[row + 1] - data.label_offsets[row], 2);
    ASSERT_EQ(data.labels[data.label_offsets[row]], i % 3);
  }
  EXPECT_EQ(std::ranges::count(seen, 1), 200000);
}

TEST_F(Stream, KeepsWeightsBesideTheirRows) {
  std::string text = "x,w,y\n";
  for (int i = 0; i < 1000; ++i) text += fmt::format("{},{},{}\n", i % 97, i % 97 + 1, i % 2);
  ReadOptions read{.scaling = ScalingKind::kNone, .weight = "w"};
  read.memory_bytes = kMemory;
  const TrainingData data = Read({.data = Path("rows.csv", text), .valid = "", .read = read});
  ASSERT_EQ(data.data.weights.size(), 1000u);
  for (std::int64_t row = 0; row < 1000; ++row) {
    ASSERT_EQ(data.data.weights[row], NumbersIn(data.data, row, row + 1)[0] + 1);
  }
}

TEST_F(Stream, SaysWhatItCannotRead) {
  EXPECT_THAT(ErrorOf({.data = folder_.path() + "/no.csv", .valid = "", .read = Options()}),
              HasSubstr("no.csv"));
  EXPECT_THAT(ErrorOf({.data = "/dev/null", .valid = "", .read = Options()}),
              HasSubstr("can be read only once"));
  std::string table = Table(kTableRows);
  table += "1,w,7,perhaps\n";  // a label that the sample lacks
  EXPECT_THAT(ErrorOf({.data = Path("odd.csv", table), .valid = "", .read = Options()}),
              HasSubstr("odd.csv:300002:"));
  const std::string idx("\0\0\x08\x02\0\0\0\1\0\0\0\1\5", 13);
  EXPECT_THAT(ErrorOf({.data = Path("idx", idx), .valid = "", .read = Options()}),
              HasSubstr("IDX file"));
}

}  // namespace
}  // namespace hogbatch
