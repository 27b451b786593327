#include <gtest/gtest.h>

#include "tests/datasets/reading.h"

namespace hogbatch {
namespace {

TEST(Csv, ReadsNumbersWithTheLabelLast) {
  const Dataset read = InOrder("1.5,-2,0\n3,4e1,1\n");
  EXPECT_EQ(read.features, 2);
  EXPECT_EQ(DenseRow(read, 0), (Rows{1.5F, -2}));
  EXPECT_EQ(DenseRow(read, 1), (Rows{3, 40}));
  EXPECT_EQ(read.classes, (std::vector<std::int32_t>{0, 1}));
}

TEST(Csv, FindsSemicolonsAndTabs) {
  for (const char* text : {"1;2;0\n3;4;1\n", "1\t2\t0\n3\t4\t1\n", " 1 , 2 ,0 \r\n\r\n 3,4 , 1"}) {
    const Dataset read = InOrder(text);
    ASSERT_EQ(read.rows, 2) << text;
    EXPECT_EQ(DenseRow(read, 1), (Rows{3, 4})) << text;
  }
}

TEST(Csv, FindsTheLabelByPositionAndName) {
  const std::string text = "y,\"a, \"\"b\"\"\",c\n0,1,2\n1,3,4\n";
  for (const char* label : {"first", "1", "y"}) {
    const Dataset read = InOrder(text, {.label = label});
    EXPECT_EQ(DenseRow(read, 1), (Rows{3, 4})) << label;
    EXPECT_EQ(read.classes, (std::vector<std::int32_t>{0, 1})) << label;
  }
  EXPECT_EQ(DenseRow(InOrder(text, {.label = "a, \"b\""}), 1), (Rows{1, 4}));
  EXPECT_EQ(DenseRow(InOrder(text, {.label = "2"}), 1), (Rows{1, 4}));
  EXPECT_EQ(DenseRow(InOrder(text, {.label = "last"}), 1), (Rows{1, 3}));
}

TEST(Csv, ReadsWordsAsClasses) {
  const TrainingData read = Learn("5.1,3.5,setosa\n6.0,2.2,\"vir, ginica\"\n5.5,2.3,setosa\n");
  EXPECT_EQ(read.data.rows, 3) << "the first line is no header";
  EXPECT_EQ(read.schema.label_names, (std::vector<std::string>{"setosa", "vir, ginica"}));
}

TEST(Csv, TakesAWordOverNumericLabelsForAHeader) {
  EXPECT_EQ(Learn("1,2,kind\n3,4,0\n5,6,1\n").data.rows, 2);
}

TEST(Csv, ReadsQuotedNumbers) {
  EXPECT_EQ(DenseRow(InOrder("\"1.5\",2,\"0\"\n3,\"4\",1\n"), 0), (Rows{1.5F, 2}));
}

TEST(Csv, AcceptsLongRows) {
  std::string text;
  for (int row = 0; row < 2; ++row) {
    for (int i = 0; i < 70000; ++i) text += "1,";
    text += std::to_string(row) + "\n";
  }
  EXPECT_EQ(InOrder(text).features, 70000);
}

struct BadFile {
  std::string name;
  std::string text;
  std::string error;
  std::string label = "auto";
};

std::string LinesOf(const std::string& lines, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += lines;
  return text;
}

class BadCsv : public testing::TestWithParam<BadFile> {};

TEST_P(BadCsv, IsReportedWhereItIs) {
  const std::string error = LearnError(GetParam().text, {.label = GetParam().label});
  EXPECT_TRUE(Begins(error, GetParam().error)) << error;
}

INSTANTIATE_TEST_SUITE_P(
    Files, BadCsv,
    testing::Values(
        BadFile{"TooFewFields", "1,2,0\n1,2\n", "in.txt:2:4: the line ends after 2 of 3 fields"},
        BadFile{"TooManyFields", "1,2,0\n1,2,0,4\n", "in.txt:2:6: the line has more than 3 fields"},
        BadFile{"ZeroByte", std::string("1,2,0\n1,\0,1\n", 12), "in.txt:2:3: a zero byte"},
        BadFile{"ZeroByteFarBelow",
                "a,b,y\n" + LinesOf("1,2,0\n1,3,1\n", 1000) + std::string("1,2\0,0\n", 7),
                "in.txt:2002:3: a zero byte"},
        BadFile{"OpenQuote", "1,2,0\n1,\"2,0\n", "in.txt:2:3: a quotation mark is not closed"},
        BadFile{"UnknownName", "a,b\n1,0\n",
                "in.txt:1:1: no column is called 'z'; the columns are "
                "a, b",
                "z"},
        BadFile{"NameWithoutHeader", "1,0\n2,1\n", "in.txt:1:1: the file has no header", "z"},
        BadFile{"PositionTooLarge", "1,0\n2,1\n", "in.txt:1:1: there is no label column 3", "3"},
        BadFile{"PositionZero", "1,0\n2,1\n", "in.txt:1:1: there is no label column 0", "0"},
        BadFile{"NamesTwice", "a,b,a\n1,2,0\n3,4,1\n",
                "in.txt:1:5: columns 1 and 3 are both called 'a'; rename one of them"},
        BadFile{"OneColumn", "abc\n1\n", "in.txt:1:1: the line has one column only"},
        BadFile{"HeaderOnly", "a,b\n", "in.txt: the file has no rows"}),
    [](const auto& name) { return name.param.name; });

}  // namespace
}  // namespace hogbatch
