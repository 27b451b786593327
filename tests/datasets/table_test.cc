// Tables as they are in the wild: words, missing cells, dates, ids.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tests/datasets/reading.h"

namespace hogbatch {
namespace {

using testing::HasSubstr;

// A table of `rows` rows: `row` writes a row without its label, which is 0 and 1 in turns.
std::string Table(const std::string& header, int rows, const std::function<std::string(int)>& row) {
  std::string text = header.empty() ? "" : header + ",y\n";
  for (int i = 0; i < rows; ++i) text += fmt::format("{},{}\n", row(i), i % 2);
  return text;
}

const TableColumn& Column(const TrainingData& read, std::size_t index) {
  return read.schema.table[index];
}

Rows RowOf(const std::string& text, std::int64_t row, ReadOptions options = {}) {
  return DenseRow(InOrder(text, std::move(options)), row);
}

TEST(Table, TurnsWordsIntoOneFeatureEach) {
  const std::string text = Table("x,colour", 40, [](int i) {
    return fmt::format("{},{}", i * i, i % 3 == 0 ? "red" : "blue");
  });
  EXPECT_EQ(Column(Learn(text), 1).categories, (std::vector<std::string>{"blue", "red"}));
  EXPECT_EQ(RowOf(text, 3), (Rows{9, 0, 1}));
  EXPECT_EQ(RowOf(text, 4), (Rows{16, 1, 0}));
}

TEST(Table, TakesCodesForCategoriesIfTold) {
  const std::string text =
      Table("code,x", 40, [](int i) { return fmt::format("0{},{}", i % 2 + 1, i * i); });
  EXPECT_EQ(RowOf(text, 1), (Rows{2, 1}));
  EXPECT_EQ(RowOf(text, 1, {.categorical = {"code"}}), (Rows{0, 1, 1}));
  EXPECT_EQ(RowOf(text, 1, {.categorical = {"1"}}), (Rows{0, 1, 1}));
}

TEST(Table, FillsMissingCellsAndMarksThem) {
  const std::string text = Table("a,b", 40, [](int i) {
    return fmt::format("{},{}", i % 4 == 0 ? "?" : "3", i % 4 == 1 ? "" : (i % 4 == 2 ? "p" : "q"));
  });
  const TrainingData read = Learn(text, {.valid_fraction = 0, .keep = {"a"}});
  EXPECT_EQ(Column(read, 0).fill, 3);
  EXPECT_TRUE(Column(read, 0).has_indicator);
  EXPECT_EQ(Column(read, 1).fill_category, 1) << "q is more frequent";
  const Dataset rows = Apply(
      text,
      Learn(text, {.scaling = ScalingKind::kNone, .valid_fraction = 0, .keep = {"a"}}).schema);
  EXPECT_EQ(DenseRow(rows, 0), (Rows{3, 1, 0, 1, 0}));
  EXPECT_EQ(DenseRow(rows, 1), (Rows{3, 0, 0, 1, 1}));
  EXPECT_EQ(DenseRow(rows, 2), (Rows{3, 0, 1, 0, 0}));
}

TEST(Table, LeavesOutWhatSaysNothing) {
  const std::string text = Table("id,same,name,x", 40, [](int i) {
    return fmt::format("{},7,person {},{}", i + 1, i, i % 5 * i);
  });
  const TrainingData read = Learn(text);
  EXPECT_EQ(Column(read, 0).reason, "it numbers the rows");
  EXPECT_EQ(Column(read, 1).reason, "it is the same in all rows");
  EXPECT_EQ(Column(read, 2).reason, "nearly all of its words differ");
  EXPECT_EQ(read.schema.features, 1);
  EXPECT_THAT(read.data.notes[1], HasSubstr("left out  id (it numbers the rows), same"));
  EXPECT_EQ(Learn(text, {.keep = {"id"}}).schema.features, 2);
  EXPECT_EQ(Learn(text, {.ignore = {"x"}, .keep = {"id"}}).schema.features, 1);
  EXPECT_THAT(LearnError(text, {.ignore = {"x"}}), HasSubstr("no column is left to learn from"));
  EXPECT_THAT(LearnError(text, {.ignore = {"z"}}), HasSubstr("--ignore names 'z'"));
  EXPECT_THAT(LearnError(text, {.keep = {"y"}}), HasSubstr("names the label column"));
}

TEST(Table, LeavesOutIds) {
  const std::string text = Table("user_id,shopId,grid,big", 40, [](int i) {
    return fmt::format("{},{},{},{}", 900000000000000000 + i * 7919000000000000, i % 5,
                       i * 37 % 101, 1000000000000000 + i);
  });
  const TrainingData read = Learn(text);
  EXPECT_EQ(Column(read, 0).reason, "it is an id by its name");
  EXPECT_EQ(Column(read, 1).reason, "") << "5 shops may say something";
  EXPECT_EQ(Column(read, 2).reason, "") << "it is no id";
  EXPECT_EQ(Column(read, 3).reason, "its first 7 digits are the same in all rows");
  EXPECT_EQ(Column(Learn(text, {.keep = {"user_id"}}), 0).reason, "");
}

TEST(Table, TakesAWordAmongManyNumbersForAMistake) {
  const std::string text =
      Table("a", 300, [](int i) { return i == 250 ? "x2" : fmt::format("{}", i % 7); });
  EXPECT_EQ(LearnError(text),
            "in.txt:252:1: 'x2' is not a number, and 299 other cells of column 'a' are; correct "
            "it, or take the column as words with --categorical a");
  EXPECT_EQ(Column(Learn(text, {.categorical = {"a"}}), 0).kind, ColumnKind::kCategory);
}

TEST(Table, RefusesNumbersBeyondAFloat) {
  for (const int rows : {1, 300}) {
    const std::string text = Table("a,b", 300, [&](int i) {
      return fmt::format("{},{}", i % 7, i < rows ? (i % 2 ? "1e308" : "-1e308") : "2.5");
    });
    EXPECT_EQ(LearnError(text), "in.txt:2:3: '-1e308' is too large for a 32-bit float; scale it");
    EXPECT_EQ(Column(Learn(text, {.ignore = {"b"}}), 0).kind, ColumnKind::kNumber);
  }
}

TEST(Table, TakesAFewWordsAmongNumbersForMissingCells) {
  const std::string text = Table("a,b", 300, [](int i) {
    return fmt::format("{},{}", i % 10 == 0 ? "unknown" : std::to_string(i % 7), i * i % 11);
  });
  const TrainingData read = Learn(text, {.scaling = ScalingKind::kNone});
  EXPECT_EQ(Column(read, 0).kind, ColumnKind::kNumber);
  EXPECT_EQ(Column(read, 0).missing_words, (std::vector<std::string>{"unknown"}));
  EXPECT_THAT(read.data.notes.front(), HasSubstr("filled    a in 30 rows by the mean"));
  const Rows row = DenseRow(Apply("a,b,y\nunknown,3,0\n", read.schema), 0);
  EXPECT_EQ(row, (Rows{Column(read, 0).fill, 1, 3}));
  EXPECT_THAT(ErrorOf([&] { Apply("a,b,y\nother,3,0\n", read.schema); }),
              HasSubstr("in.txt:2:1: 'other' is not a number"));
}

TEST(Table, ReadsNumbersAsPeopleWriteThem) {
  const std::string german = "a;b;y\n1.234,5;3;0\n2,25;4;1\n7;5;0\n1,5;6;1\n";
  EXPECT_EQ(RowOf(german, 0), (Rows{1234.5F, 3}));
  EXPECT_EQ(RowOf(german, 2), (Rows{7, 5}));
  const std::string english = "a,b,y\n\"1,234.5\",50%,0\n2.25,100 %,1\n7,25%,0\n";
  EXPECT_EQ(RowOf(english, 0), (Rows{1234.5F, 0.5F}));
  EXPECT_EQ(RowOf(english, 1), (Rows{2.25F, 1}));
  const std::string money = "a,b,y\n\"$1,234.50\",3,0\n-$2.25,4,1\n$ 7,5,0\n";
  EXPECT_EQ(RowOf(money, 0), (Rows{1234.5F, 3}));
  EXPECT_EQ(RowOf(money, 1), (Rows{-2.25F, 4}));
  EXPECT_EQ(RowOf("a;b;y\n1.234,50 €;3;0\n2,25 €;4;1\n", 0), (Rows{1234.5F, 3}));
}

TEST(Table, ReadsLabelsAsPeopleWriteThem) {
  const TrainingData read = Learn("a;y\n1;1.250,5\n2;3,25\n4;7\n5;1.250\n", {.valid_fraction = 0});
  EXPECT_EQ(read.schema.label_kind, LabelKind::kValue);
  EXPECT_NEAR(read.schema.target_mean, (1250.5 + 3.25 + 7 + 1250) / 4, 1e-9);
  const Dataset again = Apply("a;y\n1;1.250\n", read.schema);
  EXPECT_NEAR(again.targets[0] * read.schema.target_deviation + read.schema.target_mean, 1250,
              1e-3);
  EXPECT_EQ(Learn("a,y\n1,50%\n2,12.5%\n").schema.label_kind, LabelKind::kValue);
}

TEST(Table, ReadsDates) {
  const std::string text =
      Table("when", 40, [](int i) { return fmt::format("2024-01-{:02} 12:00", i % 28 + 1); });
  const TrainingData read = Learn(text);
  EXPECT_EQ(Column(read, 0).kind, ColumnKind::kDate);
  EXPECT_EQ(read.schema.features, 7);
  const Rows row = RowOf(text, 3);
  EXPECT_FLOAT_EQ(row[0], 19726.5F) << "2024-01-04 is 19726 days after 1970";
  EXPECT_NEAR(row[5], 0, 1e-3);
  EXPECT_NEAR(row[6], -1, 1e-3);
  const std::string days =
      Table("when", 40, [](int i) { return fmt::format("{}/1/2024", i % 28 + 1); });
  EXPECT_EQ(Column(Learn(days), 0).date_order, DateOrder::kDayFirst);
}

TEST(Table, SkipsRowsWithoutALabel) {
  const std::string text = "a,b,y\n1,2,0\n3,4,\n5,7,1\n5,6,NA\n";
  const TrainingData read = Learn(text);
  EXPECT_EQ(read.data.rows, 2);
  EXPECT_EQ(read.data.notes.front(), "skipped   2 of 4 rows, which have no label");
  EXPECT_EQ(read.schema.label_names, (std::vector<std::string>{"0", "1"}));
  EXPECT_THAT(LearnError("a,y\n1,\n2,\n"), HasSubstr("no row has a label"));
}

TEST(Table, ReadsQuotedFieldsWithDelimitersAndLineEnds) {
  const std::string text =
      "a,\"note, long\",y\n1,\"x\ny\",0\n2,\"say \"\"p\"\"\",1\n3,\"x\ny\",0\n";
  for (const std::size_t chunk : {1u, 8u, 1u << 20}) {
    const TrainingData read = Learn(text, {}, {.threads = 2, .chunk_bytes = chunk});
    EXPECT_EQ(read.data.rows, 3) << chunk;
    EXPECT_EQ(read.schema.table[1].name, "note, long");
    EXPECT_EQ(read.schema.table[1].categories, (std::vector<std::string>{"say \"p\"", "x\ny"}));
  }
}

TEST(Table, FindsDelimitersAndComments) {
  for (const char* text :
       {"# made by hand\na|b|y\n1|2|0\n3|4|1\n", "a b  y\n1 2 0\n3   4 1\n",
        "a\tb\ty\r\n1\t2\t0\r\n# between\r\n3\t4\t1\r\n", "a ; b;y\n1; 2;0\n3;4;1\n",
        "sep=;\r\na;b;y\r\n1;2;0\r\n3;4;1\r\n", "\"sep=,\"\na,b,y\n1,2,0\n3,4,1\n"}) {
    const TrainingData read = Learn(text);
    EXPECT_EQ(read.data.rows, 2) << text;
    EXPECT_EQ(read.schema.table[1].name, "b") << text;
    EXPECT_EQ(RowOf(text, 1), (Rows{3, 4})) << text;
  }
}

TEST(Table, SaysWhichEncodingWasTakenForTextThatIsNotUtf8) {
  const TrainingData read = Learn("a,y\n1,gr\xfcn\n2,rot\n3,rot\n");
  EXPECT_EQ(read.schema.label_names, (std::vector<std::string>{"grün", "rot"}));
  EXPECT_THAT(read.data.notes.front(), HasSubstr("read as Windows-1252"));
  EXPECT_TRUE(Learn("a,y\n1,grün\n2,rot\n3,rot\n").data.notes.empty());
}

TEST(Table, TellsAHeaderFromARowOfWords) {
  const std::string census =
      "39, State-gov, Bachelors, <=50K\n50, Private, Masters, >50K\n38, Private, HS, <=50K\n";
  EXPECT_EQ(Learn(census).data.rows, 3) << "no header";
  EXPECT_EQ(
      Learn("work,degree,y\nPrivate,HS,a\nPublic,HS,b\nPrivate,HS,a\nPublic,HS,b\n").data.rows, 4);
  EXPECT_EQ(Learn(",x,y\n0,2,0\n1,4,1\n").data.rows, 2) << "row numbers have no name";
}

TEST(Table, PutsRareAndUnseenCategoriesTogether) {
  const std::string text = Table("c,x", 4000, [](int i) {
    return fmt::format("{},{}", i % 1000 == 3 ? fmt::format("rare {}", i) : "often", i % 9);
  });
  const TrainingData read = Learn(text, {.scaling = ScalingKind::kNone});
  EXPECT_EQ(Column(read, 0).categories, (std::vector<std::string>{"often"}));
  EXPECT_TRUE(Column(read, 0).has_other);
  EXPECT_EQ(DenseRow(Apply("c,x,y\nnever seen,5,0\n", read.schema), 0), (Rows{0, 1, 5}));
}

TEST(Table, HashesVeryManyCategories) {
  const std::string text =
      Table("c,x", 12000, [](int i) { return fmt::format("word {},{}", i % 1500, i % 9); });
  const TrainingData read = Learn(text, {.hash_bits = 6});
  EXPECT_EQ(Column(read, 0).kind, ColumnKind::kHashed);
  EXPECT_EQ(read.schema.features, 65);
}

}  // namespace
}  // namespace hogbatch
