#include <gtest/gtest.h>

#include "tests/datasets/reading.h"

namespace hogbatch {
namespace {

using Ids = std::vector<std::int32_t>;

std::string ApplyError(std::string_view text, const Schema& schema,
                       Labels labels = Labels::kRequired) {
  return ErrorOf([&] { Apply(text, schema, labels); });
}

Schema LibsvmSchema() {
  return Learn("1 1:1 3:1\n2 2:1\n5 1:1\n", {.scaling = ScalingKind::kNone}).schema;
}
Schema CsvSchema(const char* label = "auto") {
  return Learn("a,b,y\n1,0.5,0\n0.25,1,1\n", {.label = label, .scaling = ScalingKind::kNone})
      .schema;
}

TEST(ReadWithSchema, KeepsFileOrderAndClasses) {
  const Dataset read = Apply("5 1:1\n1 2:1\n2 3:1\n1\n", LibsvmSchema());
  EXPECT_FALSE(read.classes.empty());
  EXPECT_EQ(read.classes, (Ids{2, 0, 1, 0}));
  EXPECT_EQ(DenseRow(read, 2), (Rows{0, 0, 1}));
  EXPECT_EQ(read.features, 3);
}

TEST(ReadWithSchema, ReportsMoreFeaturesThanTheModelKnows) {
  EXPECT_TRUE(Begins(ApplyError("1 1:1\n2 4:1\n", LibsvmSchema()),
                     "in.txt:2:3: feature 4, but the model has only 3;"));
  EXPECT_TRUE(Begins(ApplyError("1,2,3,0\n", CsvSchema()),
                     "in.txt:1:1: 4 columns, but the model expects 2 features and a label"));
}

TEST(ReadWithSchema, ReportsUnknownLabelsWhereTheyAre) {
  EXPECT_TRUE(Begins(ApplyError("1 1:1\n\n# x\n3 1:1\n", LibsvmSchema()),
                     "in.txt:4:1: label '3' is not one the model knows (1, 2, 5);"));
  EXPECT_TRUE(Begins(ApplyError("a,b,y\n1,2,0\n\n1,2, 7\n", CsvSchema()),
                     "in.txt:4:6: label '7' is not one the model knows (0, 1);"));
  const Schema sets = Learn("3,17 1:1\n5 1:1\n").schema;
  EXPECT_TRUE(Begins(ApplyError("3 1:1\n3,5,18 1:1\n", sets), "in.txt:2:5: label '18'"));
}

TEST(ReadWithSchema, AbbreviatesManyKnownLabels) {
  std::string text;
  for (int i = 0; i < 50; ++i) text += std::to_string(i) + " 1:1\n";
  const std::string error = ApplyError("99 1:1\n", Learn(text).schema);
  EXPECT_NE(error.find("(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ... (50 in all))"), std::string::npos);
}

TEST(ReadWithSchema, ReportsMissingAndSeveralLabels) {
  EXPECT_TRUE(Begins(ApplyError("1 1:1\n 2:1\n", LibsvmSchema()), "in.txt:2:2: the row has no"));
  EXPECT_TRUE(Begins(ApplyError("1 1:1\n1,2 2:1\n", LibsvmSchema()), "in.txt:2:3: several labels"));
}

TEST(ReadWithSchema, NeedsNoLabelsWhereTheyAreOptional) {
  for (const char* text : {"1 1:1\n7 2:1\n", " 1:1\n 2:1\n", "0\n0 1:1\n"}) {
    const Dataset read = Apply(text, LibsvmSchema(), Labels::kOptional);
    EXPECT_TRUE(read.classes.empty()) << text;
    EXPECT_EQ(read.rows, 2) << text;
  }
  EXPECT_EQ(Apply("5 1:1\n", LibsvmSchema(), Labels::kOptional).classes, Ids{2});
}

TEST(ReadWithSchema, ReadsACsvWithoutItsLabelColumnWhereLabelsAreOptional) {
  for (const char* text : {"a,b\n1,0.5\n", "1,0.5\n"}) {
    const Dataset read = Apply(text, CsvSchema(), Labels::kOptional);
    EXPECT_TRUE(read.classes.empty());
    EXPECT_EQ(DenseRow(read, 0), (Rows{1, 0.5F}));
  }
  EXPECT_TRUE(Begins(ApplyError("1,0.5\n", CsvSchema()), "in.txt:1:1: 2 columns, but the model"));
}

TEST(ReadWithSchema, FindsTheLabelColumnByNameAgain) {
  const Schema schema = CsvSchema("y");
  EXPECT_EQ(schema.label_column, "y");
  const Dataset read = Apply("y,a,b\n1,0.25,0.75\n", schema);
  EXPECT_EQ(DenseRow(read, 0), (Rows{0.25F, 0.75F}));
  EXPECT_EQ(read.classes, Ids{1});
  EXPECT_TRUE(Begins(ApplyError("a,b,c\n1,2,0\n", schema), "in.txt:1:1: no column is called 'y'"));
}

std::vector<std::string> NamesOf(const Schema& schema) {
  std::vector<std::string> names;
  for (const TableColumn& column : schema.table) names.push_back(column.name);
  return names;
}

TEST(ReadWithSchema, KnowsTheNamesOfTheColumns) {
  const Schema schema = CsvSchema();
  EXPECT_EQ(NamesOf(schema), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(schema.label_name, "y");
  EXPECT_EQ(NamesOf(CsvSchema("first")), (std::vector<std::string>{"b", "y"}));
  EXPECT_EQ(Learn("1,0.5,0\n0.25,1,1\n").schema.table.front().name, "");
}

TEST(ReadWithSchema, FindsColumnsByTheirNames) {
  for (const char* text : {"a,b,y\n1,2,0\n", "b,y,a\n2,0,1\n", "x,b,y,a\nword,2,0,1\n"}) {
    const Dataset read = Apply(text, CsvSchema());
    EXPECT_EQ(DenseRow(read, 0), (Rows{1, 2})) << text;
    EXPECT_EQ(read.classes, Ids{0}) << text;
  }
  EXPECT_EQ(Apply("x,b,y,a,z\n3,2,0,1,4\n", CsvSchema()).notes,
            (std::vector<std::string>{
                "in.txt: columns that the model does not know are not used: x, z"}));
  EXPECT_EQ(DenseRow(Apply("b,a\n2,1\n", CsvSchema(), Labels::kOptional), 0), (Rows{1, 2}));
}

TEST(ReadWithSchema, RefusesOrFillsColumnsThatAreNotThere) {
  EXPECT_EQ(ApplyError("a,c,y\n1,2,0\n", CsvSchema()),
            "in.txt:1:1: there is no column 'b', on which the model was trained; add it, or fill "
            "it with --missing-columns fill");
  EXPECT_TRUE(Begins(ApplyError("a,b,z\n1,2,0\n", CsvSchema()),
                     "in.txt:1:1: no column is called 'y'; the columns are a, b, z"));
  const Schema schema = CsvSchema();
  const Dataset filled = ReadTextWithSchema(InputFromBytes("a,y\n7,0\n", "in.txt"), schema,
                                            Labels::kRequired, {.fills_columns = true}, {});
  EXPECT_EQ(DenseRow(filled, 0), (Rows{7, schema.table[1].fill}));
}

TEST(ReadWithSchema, MatchesByPositionWhereEitherHasNoHeader) {
  EXPECT_EQ(DenseRow(Apply("1,0.5,0\n", CsvSchema()), 0), (Rows{1, 0.5F}));
  Schema nameless = CsvSchema();
  for (TableColumn& column : nameless.table) column.name.clear();
  nameless.label_name.clear();
  EXPECT_EQ(DenseRow(Apply("p,q,r\n1,0.5,0\n", nameless), 0), (Rows{1, 0.5F}));
  EXPECT_TRUE(Begins(ApplyError("1,2,3,0\n", nameless), "in.txt:1:1: 4 columns, but the model"));
}

TEST(ReadWithSchema, KnowsNamesAndWordsInUtf8AndWindows1252) {
  const Schema schema =
      Learn("h\xf6he,b,y\n1,\x80,0\n0.25,gr\xfcn,1\n", {.valid_fraction = 0}).schema;
  EXPECT_EQ(schema.table.front().name, "höhe");
  EXPECT_EQ(schema.table[1].categories, (std::vector<std::string>{"grün", "€"}));
  for (const char* text : {"h\xf6he,b,y\n1,gr\xfcn,0\n", "höhe,b,y\n1,grün,0\n"}) {
    EXPECT_EQ(DenseRow(Apply(text, schema), 0)[1], 1) << text;
  }
}

TEST(ReadWithSchema, TakesColumnsWithoutANameInTheirOrder) {
  const std::string text = ",x,,y\n7,1,a,0\n3,2,b,1\n4,2,b,1\n";
  const Schema schema = Learn(text, {.scaling = ScalingKind::kNone, .valid_fraction = 0}).schema;
  EXPECT_EQ(DenseRow(Apply(text, schema), 1), (Rows{3, 2, 0, 1}));
  EXPECT_EQ(DenseRow(Apply("x,,y,\n2,3,1,b\n", schema), 0), (Rows{3, 2, 0, 1}));
}

TEST(ReadWithSchema, KnowsALabelWithoutANameAmongColumnsWithoutOne) {
  const std::string text = "x,,,z\n2,0,7,5\n2,1,3,6\n2,1,4,6\n";
  const Schema schema =
      Learn(text, {.label = "2", .scaling = ScalingKind::kNone, .valid_fraction = 0}).schema;
  const Dataset read = Apply(text, schema);
  EXPECT_EQ(DenseRow(read, 1), (Rows{2, 3, 6}));
  EXPECT_EQ(read.classes, (Ids{0, 1, 1}));
  EXPECT_EQ(DenseRow(Apply(",z,,x\n1,6,3,2\n", schema), 0), (Rows{2, 3, 6}));
  EXPECT_EQ(DenseRow(Apply("x,,,z,\n2,1,3,6,\n", schema), 0), (Rows{2, 3, 6}));
  EXPECT_EQ(DenseRow(Apply("x,,z\n2,3,6\n", schema, Labels::kOptional), 0), (Rows{2, 3, 6}));
}

TEST(ReadWithSchema, RefusesTheOtherFormat) {
  EXPECT_TRUE(Begins(ApplyError("1,2,0\n", LibsvmSchema()),
                     "in.txt: this is a CSV file, but the model was trained on LIBSVM"));
  EXPECT_TRUE(
      Begins(ApplyError("1 1:1\n", CsvSchema()), "in.txt: this is a LIBSVM file, but the model"));
}

TEST(ReadWithSchema, ReadsOneHotColumnsAnywhere) {
  Schema schema;
  schema.format = FileFormat::kCsv;
  schema.file_columns = 3;
  schema.table = {{.kind = ColumnKind::kCategory, .feature = 1, .categories = {"5", "7"}},
                  {.feature = 0},
                  {.kind = ColumnKind::kCategory, .feature = 3, .categories = {"1", "2", "3"}}};
  schema.features = 6;
  schema.label_column = "2";
  schema.label_names = {"0", "1"};
  const Dataset read = Apply("7,0,2.5,3\n5,1,0,1\n", schema);
  EXPECT_EQ(DenseRow(read, 0), (Rows{2.5F, 0, 1, 0, 0, 1}));
  EXPECT_EQ(DenseRow(read, 1), (Rows{0, 1, 0, 1, 0, 0}));
  EXPECT_EQ(DenseRow(Apply("6,0,2.5,3\n", schema), 0), (Rows{2.5F, 0, 0, 0, 0, 1})) << "unseen";
}

}  // namespace
}  // namespace hogbatch
