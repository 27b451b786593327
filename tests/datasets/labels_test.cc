#include <gtest/gtest.h>

#include "datasets/data_facts.h"
#include "tests/datasets/reading.h"

namespace hogbatch {
namespace {

using Names = std::vector<std::string>;
using Ids = std::vector<std::int32_t>;

// `count` rows with labels first, first + step, …
std::string RowsWithLabels(int count, double first, double step) {
  std::string text;
  for (int i = 0; i < count; ++i) text += std::to_string(first + i * step) + " 1:1\n";
  return text;
}

TEST(Labels, NamesClassesCanonicallyInNumericOrder) {
  const Schema schema = Learn("+1 1:1\n10.0 1:1\n-1 1:1\n2 1:1\n1.0 1:1\n").schema;
  EXPECT_EQ(schema.label_kind, LabelKind::kClass);
  EXPECT_EQ(schema.label_names, (Names{"-1", "1", "2", "10"}));
  EXPECT_EQ(schema.outputs(), 4);
}

// `count` rows of each of the labels 0, 1, …
std::string RowsOfEach(int labels, int count) {
  std::string text;
  for (int i = 0; i < labels * count; ++i) text += fmt::format("{} 1:1\n", i % labels);
  return text;
}

TEST(Labels, ThatAreWholeNumbersAreClassesIfTheyOccurInSeveralRows) {
  const TrainingData classes = Learn(RowsOfEach(1473, 5));
  EXPECT_EQ(classes.schema.label_kind, LabelKind::kClass);
  EXPECT_NE(classes.data.notes.front().find("--task regress"), std::string::npos);
  const TrainingData values = Learn(RowsOfEach(440, 2));
  EXPECT_EQ(values.schema.label_kind, LabelKind::kValue);
  EXPECT_NE(values.data.notes.front().find("--task classify"), std::string::npos);
  EXPECT_EQ(Learn(RowsOfEach(30, 2)).schema.label_kind, LabelKind::kClass) << "too few to tell";
}

TEST(Labels, AreWhatTheUserSays) {
  const auto kind = [](const std::string& text, LearningTask task) {
    return Learn(text, {.task = task}).schema.label_kind;
  };
  EXPECT_EQ(kind(RowsOfEach(440, 2), LearningTask::kClassify), LabelKind::kClass);
  EXPECT_EQ(kind(RowsOfEach(3, 50), LearningTask::kRegress), LabelKind::kValue);
  EXPECT_EQ(kind("1.5 1:1\n2.5 1:1\n", LearningTask::kClassify), LabelKind::kClass);
  EXPECT_EQ(kind(RowsOfEach(3, 50), LearningTask::kMultiLabel), LabelKind::kMultiLabel);
  EXPECT_EQ(LearnError("1,a\n2,b\n3,a\n", {.task = LearningTask::kRegress}),
            "in.txt: --task regress, but some labels are words (a, b); leave it out, or choose "
            "another label column with --label");
  EXPECT_TRUE(Begins(LearnError("1,3\n2,4\n", {.task = LearningTask::kMultiLabel}),
                     "in.txt: --task multilabel is for LIBSVM files"));
  EXPECT_TRUE(Begins(LearnError("1,2 1:1\n3 1:1\n", {.task = LearningTask::kClassify}),
                     "in.txt: --task classify, but its rows have several labels"));
}

TEST(Labels, AreValuesWhenOneIsNotWhole) {
  const TrainingData read = Learn("1 1:1\n2.5 1:1\n3 1:1\n");
  EXPECT_EQ(read.schema.label_kind, LabelKind::kValue);
  EXPECT_EQ(read.schema.outputs(), 1);
  EXPECT_TRUE(read.data.classes.empty());
}

TEST(Labels, StandardisesValuesByTheTrainingRows) {
  const TrainingData read = Learn(RowsWithLabels(200, -7.5, 0.25), {.valid_fraction = 0.3});
  ASSERT_EQ(read.train_rows, 140);
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < 140; ++i) {
    sum += read.data.targets[i];
    squares += read.data.targets[i] * read.data.targets[i];
  }
  EXPECT_NEAR(sum / 140, 0, 1e-5);
  EXPECT_NEAR(squares / 140, 1, 1e-5);
  const Dataset again = Apply("4.5 1:1\n", read.schema);
  EXPECT_FLOAT_EQ(again.targets[0], static_cast<float>((4.5 - read.schema.target_mean) /
                                                       read.schema.target_deviation));
}

TEST(Labels, OfListsMakeSets) {
  const Dataset read = InOrder("3,17 1:1\n 2:1\n5 1:1\n17,3,3 2:1\n");
  EXPECT_EQ(read.label_offsets, (std::vector<std::int64_t>{0, 2, 2, 3, 5}));
  EXPECT_EQ(read.labels, (Ids{0, 2, 1, 0, 2}));
  EXPECT_EQ(Learn("3,17 1:1\n 2:1\n5 1:1\n").schema.label_names, (Names{"3", "5", "17"}));
}

TEST(Labels, MayBeMissingOnlyInMultiLabelFiles) {
  EXPECT_TRUE(Begins(LearnError("1 1:1\n0 1:1\n 2:1\n"), "in.txt:3:2: the row has no label"));
}

TEST(Labels, OfSetsAreWholeNumbers) {
  EXPECT_TRUE(Begins(LearnError("1,2 1:1\n3,4.5 1:1\n"), "in.txt:2:3: label 4.5 in a multi-label"));
}

TEST(Labels, MustDiffer) {
  EXPECT_TRUE(Begins(LearnError("1 1:1\n1 1:2\n"), "in.txt: every row has the label 1;"));
  EXPECT_TRUE(Begins(LearnError("0.5 1:1\n0.5 1:2\n"), "in.txt: every row has the label 0.5;"));
  EXPECT_TRUE(
      Begins(LearnError("1 1:1\n1 1:2\n", {.positive = "1"}), "in.txt: every row has the label 1"));
}

TEST(Labels, MustNotMixWordsWithReals) {
  EXPECT_TRUE(Begins(LearnError("1,2,0.5\n1,2,a\n"), "in.txt: the label column mixes words (a)"));
}

TEST(Labels, TooLargeToStandardiseAreRefused) {
  EXPECT_TRUE(Begins(LearnError("1e308 1:1\n-1e308 1:1\n0.5 1:1\n"), "in.txt: the labels are too"));
}

TEST(Positive, SetsOneClassAgainstTheRest) {
  for (const char* label : {"2", "+2", "2.0"}) {
    const TrainingData read = Learn("1 1:1\n2 1:1\n3 1:1\n2 1:1\n", {.positive = label});
    EXPECT_EQ(read.schema.label_names, (Names{"not 2", "2"}));
    EXPECT_EQ(std::count(read.data.classes.begin(), read.data.classes.end(), 1), 2);
  }
}

TEST(Positive, WorksOnWordsSetsAndValues) {
  EXPECT_EQ(InOrder("1,2,a\n1,3,b\n1,4,c\n", {.positive = "b"}).classes, (Ids{0, 1, 0}));
  EXPECT_EQ(InOrder("3,17 1:1\n 2:1\n17 1:1\n", {.positive = "17"}).classes, (Ids{1, 0, 1}));
  EXPECT_EQ(InOrder("0.5 1:1\n1 1:1\n", {.positive = "0.5"}).classes, (Ids{1, 0}));
}

TEST(Positive, MustOccur) {
  EXPECT_EQ(LearnError("1 1:1\n2 1:1\n", {.positive = "9"}),
            "in.txt: no row has the label '9' that --positive names; its labels are 1, 2");
}

TEST(Positive, MakesUnknownLabelsTheRest) {
  const Schema schema = Learn("1 1:1\n2 1:1\n", {.positive = "2"}).schema;
  EXPECT_EQ(Apply("7 1:1\n2 1:1\n", schema).classes, (Ids{0, 1}));
}

TEST(LabelFacts, CountTheRowsOfEachClass) {
  const LabelFacts facts = FactsOfLabels(Learn("a,1\nb,2\nb,3\nc,4\n", {.label = "first"}));
  const std::vector<std::pair<std::string, std::int64_t>> expected = {{"b", 2}, {"a", 1}, {"c", 1}};
  EXPECT_EQ(facts.classes, expected);
}

TEST(LabelFacts, OfNumbersAreThoseOfTheFile) {
  const LabelFacts facts =
      FactsOfLabels(Learn("1.5,1\n-2.5,2\n4,3\n",
                          {.label = "first", .task = LearningTask::kRegress, .valid_fraction = 0}));
  EXPECT_NEAR(facts.min, -2.5, 1e-5);
  EXPECT_NEAR(facts.mean, 1, 1e-5);
  EXPECT_NEAR(facts.max, 4, 1e-5);
}

}  // namespace
}  // namespace hogbatch
