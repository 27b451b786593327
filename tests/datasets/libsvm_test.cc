#include <gtest/gtest.h>

#include "tests/datasets/reading.h"

namespace hogbatch {
namespace {

TEST(Libsvm, ReadsLabelsAndFeatures) {
  const Dataset read = InOrder("+1 1:0.5 3:-2\n-1 2:1e1\n");
  EXPECT_EQ(read.rows, 2);
  EXPECT_EQ(read.features, 3);
  EXPECT_EQ(DenseRow(read, 0), (Rows{0.5F, 0, -2}));
  EXPECT_EQ(DenseRow(read, 1), (Rows{0, 10, 0}));
  EXPECT_EQ(read.classes, (std::vector<std::int32_t>{1, 0}));
}

TEST(Libsvm, ReadsLabelOnlyLinesAsRowsOfZeros) {
  const Dataset read = InOrder("-1\n+1 2:1\n-1 \n");
  EXPECT_EQ(read.rows, 3);
  EXPECT_EQ(DenseRow(read, 0), (Rows{0, 0}));
  EXPECT_EQ(DenseRow(read, 2), (Rows{0, 0}));
}

TEST(Libsvm, SkipsBlankLinesCommentsAndCarriageReturns) {
  const Dataset read =
      InOrder("# made by hand\r\n\r\n1 1:2 # first\r\n   \n0 2:3# second\r\n\n1 1:4 2:5");
  EXPECT_EQ(read.rows, 3);
  EXPECT_EQ(DenseRow(read, 0), (Rows{2, 0}));
  EXPECT_EQ(DenseRow(read, 1), (Rows{0, 3}));
  EXPECT_EQ(DenseRow(read, 2), (Rows{4, 5}));
}

TEST(Libsvm, SkipsAByteOrderMark) {
  EXPECT_EQ(InOrder("\xef\xbb\xbf"
                    "1 1:2\n0 1:3\n")
                .rows,
            2);
}

TEST(Libsvm, SortsIndicesAndSumsDuplicates) {
  const Dataset read = InOrder("1 3:1 1:2 3:4\n0 2:1 2:-1 1:7\n");
  EXPECT_EQ(DenseRow(read, 0), (Rows{2, 0, 5}));
  EXPECT_EQ(DenseRow(read, 1), (Rows{7, 0, 0}));
}

TEST(Libsvm, KeepsColumnsAscendingInSparseRows) {
  const Dataset read = InOrder("1 90:1 10:2 50:4\n0 100:1\n");
  ASSERT_TRUE(read.is_sparse);
  EXPECT_EQ(read.columns, (std::vector<std::int32_t>{9, 49, 89, 99}));
  EXPECT_EQ(read.offsets, (std::vector<std::int64_t>{0, 3, 4}));
}

TEST(Libsvm, CountsAnIndexWhoseValueIsZero) {
  EXPECT_EQ(InOrder("1 1:1 7:0\n0 1:2\n").features, 7);
}

TEST(Libsvm, AcceptsAPlusBeforeValues) {
  EXPECT_EQ(DenseRow(InOrder("1 1:+2.5\n0 1:1\n"), 0), Rows{2.5F});
}

struct BadLine {
  std::string name;
  std::string text;
  std::string error;
};

class BadLibsvm : public testing::TestWithParam<BadLine> {};

TEST_P(BadLibsvm, IsReportedWhereItIs) {
  const std::string error = LearnError(GetParam().text);
  EXPECT_TRUE(Begins(error, GetParam().error)) << error;
}

INSTANTIATE_TEST_SUITE_P(
    Lines, BadLibsvm,
    testing::Values(
        BadLine{"IndexZero", "1 1:1\n0 0:1\n",
                "in.txt:2:3: index 0 is not allowed: indices start at 1"},
        BadLine{"NegativeIndex", "1 1:1\n0 1:1 -4:1\n", "in.txt:2:7: index -4 is negative"},
        BadLine{"HugeIndex", "1 1:1\n0 2147483649:1\n",
                "in.txt:2:3: index '2147483649' is larger than 2147483648"},
        BadLine{"IndexOver64Bits", "1 1:1\n0 99999999999999999999:1\n",
                "in.txt:2:3: index '99999999999999999999' is larger than"},
        BadLine{"WordAsIndex", "1 1:1\n0 qid:1\n", "in.txt:2:3: 'qid' is not a feature index"},
        BadLine{"PlusBeforeIndex", "1 1:1\n0 +3:1\n", "in.txt:2:3: '+3' is not a feature index"},
        BadLine{"NoIndex", "1 1:1\n0 :1\n", "in.txt:2:3: '' is not a feature index"},
        BadLine{"NoColon", "1 1:1\n0 1:1 7\n", "in.txt:2:7: expected index:value, found '7'"},
        BadLine{"BadValue", "1 1:1\n0 1:abc\n", "in.txt:2:5: 'abc' is not a number"},
        BadLine{"ValueWithTail", "1 1:1\n0 1:1.5x 2:1\n", "in.txt:2:5: '1.5x' is not a number"},
        BadLine{"NoValue", "1 1:1\n0 1: 2:1\n", "in.txt:2:5: a number is missing"},
        BadLine{"NoValueAtTheEnd", "1 1:1\n0 1:", "in.txt:2:5: a number is missing"},
        BadLine{"TwoSigns", "1 1:1\n0 1:+-2\n", "in.txt:2:5: '+-2' is not a number"},
        BadLine{"NaN", "1 1:1\n0 1:nan\n", "in.txt:2:5: 'nan' is not a finite number"},
        BadLine{"Infinity", "1 1:1\n0 1:-inf\n", "in.txt:2:5: '-inf' is not a finite number"},
        BadLine{"OverDouble", "1 1:1\n0 1:1e400\n", "in.txt:2:5: '1e400' is too large"},
        BadLine{"OverFloat", "1 1:1\n0 1:1e39\n", "in.txt:2:5: '1e39' is too large"},
        BadLine{"SumOverFloat", "1 1:1\n0 1:3e38 1:3e38\n", "in.txt:2:1: values of an index that"},
        BadLine{"BadLabel", "1 1:1\nx 1:2\n", "in.txt:2:1: label: 'x' is not a number"},
        BadLine{"NaNLabel", "1 1:1\nnan 1:2\n", "in.txt:2:1: label: 'nan' is not a finite"},
        BadLine{"EmptyLabelInList", "1,2 1:1\n3, 1:2\n", "in.txt:2:3: label: a number is missing"},
        BadLine{"FeatureFirst", "1 1:1\n1:2 2:3\n", "in.txt:2:1: the row starts with a feature"},
        BadLine{"NoFeatures", "1\n0\n", "in.txt: no row has a feature"},
        BadLine{"OnlyComments", "# 1\n\n", "in.txt: the file has no rows"}),
    [](const auto& name) { return name.param.name; });

TEST(Libsvm, ReportsTheFirstErrorOfTheFileWhateverTheChunks) {
  std::string text;
  for (int line = 1; line <= 2000; ++line) {
    text += line == 700 || line == 1500 ? "1 1:1 5:bad\n" : "0 1:1 2:1\n";
  }
  for (const std::size_t chunk : {1, 64, 1000, 1 << 20}) {
    for (const int threads : {1, 4}) {
      const std::string error =
          ErrorOf([&] { Learn(text, {}, {.threads = threads, .chunk_bytes = chunk}); });
      EXPECT_TRUE(Begins(error, "in.txt:700:9: 'bad' is not a number")) << error;
    }
  }
}

TEST(Libsvm, HasItsLabelFirst) {
  EXPECT_TRUE(Begins(LearnError("1 1:1\n0 1:2\n", {.label = "last"}),
                     "in.txt: the label of a LIBSVM file comes first"));
}

}  // namespace
}  // namespace hogbatch
