#include "compare/runs/run_files.h"

#include <gtest/gtest.h>

#include "tests/support/process.h"

namespace hogbatch::compare {
namespace {

constexpr SplitRows kAllSplits = {.valid_rows = 10, .test_rows = 10};

TEST(RunFiles, TakesTheCurveFromEvaluationsInOrderOfTime) {
  TemporaryFolder folder;
  folder.Write("metrics.jsonl",
               R"({"seconds":2,"train_seconds":1.5,"epoch":1,"examples":9,"running_loss":0.6})"
               "\n"
               R"({"seconds":3,"train_seconds":2,"epoch":2,"examples":12,"valid_loss":0.4,)"
               R"("valid_accuracy":0.8,"test_loss":0.5,"test_accuracy":0.7})"
               "\n"
               R"({"seconds":0,"train_seconds":0,"epoch":0,"examples":0,"valid_loss":0.9})"
               "\n");
  const RunFiles files = ReadRunFiles(folder.path(), kAllSplits);
  ASSERT_EQ(files.curve.size(), 2u);
  EXPECT_EQ(files.curve[0].loss, 0.9);
  EXPECT_EQ(files.curve[1].seconds, 2);
  EXPECT_EQ(files.metric, "test_accuracy");
  EXPECT_EQ(*files.curve[1].metric, 0.7);
  EXPECT_EQ(files.seconds, 3);
  EXPECT_FALSE(files.has_summary);
}

TEST(RunFiles, WithoutValidationRowsTheTrainingLossCounts) {
  TemporaryFolder folder;
  folder.Write("metrics.jsonl", R"({"train_seconds":1,"train_loss":0.3,"train_accuracy":0.9})");
  const RunFiles files = ReadRunFiles(folder.path(), {.valid_rows = 0, .test_rows = 0});
  ASSERT_EQ(files.curve.size(), 1u);
  EXPECT_EQ(files.curve[0].loss, 0.3);
}

TEST(RunFiles, NumbersOfPythonThatAreNoneDoNotSpoilTheRest) {
  TemporaryFolder folder;
  folder.Write("metrics.jsonl",
               "{\"train_seconds\": 1, \"valid_loss\": NaN}\n"
               "{\"train_seconds\": 2, \"valid_loss\": 0.5}\nbroken\n");
  folder.Write(
      "summary.json",
      R"({"valid_loss": Infinity, "examples_per_second": 7, "stopped_because": "epochs"})");
  const RunFiles files = ReadRunFiles(folder.path(), kAllSplits);
  EXPECT_EQ(files.curve.size(), 1u);
  EXPECT_TRUE(files.has_summary);
  EXPECT_FALSE(files.finite);
  EXPECT_EQ(files.examples_per_second, 7);
}

TEST(RunFiles, ValuesOfAWrongTypeOrSizeAreLeftOut) {
  TemporaryFolder folder;
  folder.Write("metrics.jsonl",
               "{\"train_seconds\": \"1\", \"valid_loss\": []}\n[]\n"
               "{\"seconds\": 1, \"train_seconds\": 1, \"examples\": -1e308}\n"
               "{\"seconds\": 2, \"train_seconds\": 2, \"examples\": 1e308}\n");
  folder.Write("summary.json",
               R"({"stopped_because": 3, "peak_memory_bytes": 1e300, "train_seconds": -NaN})");
  EXPECT_FALSE(ReadRunFiles(folder.path(), kAllSplits).has_summary);
  folder.Write("summary.json", R"({"stopped_because": 3, "peak_memory_bytes": 1e300})");
  const RunFiles files = ReadRunFiles(folder.path(), kAllSplits);
  EXPECT_TRUE(files.has_summary);
  EXPECT_EQ(files.stopped_because, "");
  EXPECT_EQ(files.peak_bytes, 1000000000000000000);
  EXPECT_EQ(files.examples_per_second, 0);
  EXPECT_TRUE(files.curve.empty());
}

// 100 rows a second while one worker evaluates, 300 when both train.
TEST(RunFiles, SpeedIsThatOfUndisturbedTraining) {
  TemporaryFolder folder;
  folder.Write("metrics.jsonl",
               "{\"seconds\": 1, \"train_seconds\": 0.5, \"examples\": 100}\n"
               "{\"seconds\": 2, \"train_seconds\": 1.5, \"examples\": 400}\n"
               "{\"seconds\": 3, \"train_seconds\": 2.5, \"examples\": 700}\n");
  folder.Write("summary.json", R"({"train_seconds": 2.5, "examples_per_second": 280})");
  EXPECT_EQ(ReadRunFiles(folder.path(), kAllSplits).examples_per_second, 300);
}

TEST(RunFiles, WithoutUndisturbedTimeTheSummaryTells) {
  TemporaryFolder folder;
  folder.Write("metrics.jsonl",
               "{\"seconds\": 1, \"train_seconds\": 0.5, \"examples\": 100}\n"
               "{\"seconds\": 2, \"train_seconds\": 1, \"examples\": 200}\n");
  folder.Write("summary.json", R"({"train_seconds": 1, "examples_per_second": 200})");
  EXPECT_EQ(ReadRunFiles(folder.path(), kAllSplits).examples_per_second, 200);
}

}  // namespace
}  // namespace hogbatch::compare
