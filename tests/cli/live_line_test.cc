#include "cli/reports/live_line.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/cli/teams.h"

namespace hogbatch {
namespace {

TEST(FitFields, DropsWholeFieldsFromTheEnd) {
  const std::vector<std::string> fields = {"epoch 1.00/10", "loss 0.5", "12k rows/s"};
  EXPECT_EQ(FitFields(fields, 80), "epoch 1.00/10  loss 0.5  12k rows/s");
  EXPECT_EQ(FitFields(fields, 34), "epoch 1.00/10  loss 0.5");
  EXPECT_EQ(FitFields(fields, 22), "epoch 1.00/10");
}

TEST(FitFields, CutsTheFirstFieldInATerminalNarrowerThanIt) {
  const std::vector<std::string> fields = {"epoch 1.00/10", "loss 0.5"};
  EXPECT_EQ(FitFields(fields, 5), "epoch");
  EXPECT_EQ(FitFields(fields, 0), "");
  EXPECT_EQ(FitFields(fields, -1), "");
}

TEST(FitFields, CountsAndCutsCharactersNotBytes) {
  const std::vector<std::string> fields = {"größe", "süß"};
  EXPECT_EQ(FitFields(fields, 3), "grö");
  EXPECT_EQ(FitFields(fields, 10), "größe  süß");
}

TEST(Metric, ShowsAnErrorOfAnySize) {
  EXPECT_EQ(Text(Metric{.name = "rmse", .value = 1178470607.2365}), "rmse 1.1785e+09");
  EXPECT_EQ(Text(Metric{.name = "rmse", .value = 0.0000123456}), "rmse 1.2346e-05");
  EXPECT_EQ(Text(Metric{.name = "accuracy", .value = 0.5}), "accuracy 0.5000");
}

TEST(ShortCount, KeepsThreeDigits) {
  EXPECT_EQ(ShortCount(0), "0");
  EXPECT_EQ(ShortCount(950), "950");
  EXPECT_EQ(ShortCount(12345), "12.3k");
  EXPECT_EQ(ShortCount(4.56e6), "4.56M");
  EXPECT_EQ(ShortCount(2e9), "2G");
}

TEST(ShortTime, UsesTwoUnits) {
  EXPECT_EQ(ShortTime(0.31), "0.3s");
  EXPECT_EQ(ShortTime(42), "42s");
  EXPECT_EQ(ShortTime(185), "3m05s");
  EXPECT_EQ(ShortTime(7800), "2h10m");
  EXPECT_EQ(ShortTime(1e300), "833333h");
}

TEST(Grouped, SeparatesThousands) {
  EXPECT_EQ(Grouped(7), "7");
  EXPECT_EQ(Grouped(1000), "1,000");
  EXPECT_EQ(Grouped(1234567), "1,234,567");
  EXPECT_EQ(Grouped(-123456), "-123,456");
}

EvaluationSums Sums() {
  EvaluationSums sums;
  sums.rows = 4;
  sums.loss = 2;
  sums.correct = 3;
  sums.hits_at[0] = 2;
  sums.hits_at[1] = 1;
  sums.hits_at[2] = 4;
  sums.squared_error = 1;
  return sums;
}

TEST(MetricsOf, AreThoseOfTheLoss) {
  EXPECT_EQ(MetricsOf(Sums(), {.loss = Loss::kSoftmax}).front().value, 0.75);
  const auto precision = MetricsOf(Sums(), {.loss = Loss::kSigmoid});
  ASSERT_EQ(precision.size(), 3u);
  EXPECT_EQ(precision[1].name, "precision_at_3");
  EXPECT_EQ(precision[2].value, 1.0);
}

TEST(MetricsOf, RmseIsInTheLabelsOwnUnits) {
  const auto rmse = MetricsOf(Sums(), {.loss = Loss::kSquared, .target_deviation = 10});
  EXPECT_EQ(rmse.front().name, "rmse");
  EXPECT_EQ(rmse.front().value, 5.0);
}

TEST(LiveFields, HoldLossQualityRatesEpochAndTimeLeft) {
  const Progress progress{.epoch = 1.5,
                          .examples_per_second = 52300,
                          .updates_per_second = 3270,
                          .running_loss = 0.5,
                          .seconds_left = 80,
                          .evaluation = {}};
  const Evaluation last{.epoch = 1, .train = {}, .valid = Sums(), .test = {}};
  EXPECT_EQ(
      FitFields(LiveFields(progress, 10, last, {}), 200),
      "epoch 1.50/10  loss 0.5000  1m20s left  accuracy 0.7500  52.3k rows/s  3.27k updates/s");
  EXPECT_EQ(FitFields(LiveFields(progress, 10, last, {}), 79),
            "epoch 1.50/10  loss 0.5000  1m20s left  accuracy 0.7500  52.3k rows/s");
}

TEST(LiveFields, OfSeveralTeamsPutTheirBalanceFirstAndDropTheRestInNarrowTerminals) {
  const Evaluation last{.epoch = 1, .train = {}, .valid = Sums(), .test = {}};
  const std::vector<std::string> fields = LiveFields(CoresAndGpu(), 10, last, {});
  EXPECT_EQ(
      FitFields(fields, 200),
      "epoch 1.50/10  loss 0.5000  1m20s left  cpu 52% x64 (max)  opencl.0 48% x128  beta 0.99  "
      "52.3k rows/s  accuracy 0.7500  3.27k updates/s");
  EXPECT_EQ(FitFields(fields, 80),
            "epoch 1.50/10  loss 0.5000  1m20s left  cpu 52% x64 (max)  opencl.0 48% x128");
  EXPECT_EQ(FitFields(fields, 50), "epoch 1.50/10  loss 0.5000  1m20s left");
  EXPECT_EQ(FitFields(fields, 30), "epoch 1.50/10  loss 0.5000");
}

TEST(EvaluationLine, SaysEveryMeasuredSplitAndWhetherItIsTheBest) {
  const Progress progress{
      .seconds = 12,
      .running_loss = {},
      .seconds_left = {},
      .evaluation = Evaluation{.epoch = 2, .train = Sums(), .valid = Sums(), .test = {}},
      .best = true};
  EXPECT_EQ(EvaluationLine(progress, {}),
            "epoch 2         12s  train loss 0.5000  valid loss 0.5000 accuracy 0.7500  best");
}

TEST(WrapLine, BreaksAtWordsAndIndentsLikeTheText) {
  EXPECT_EQ(WrapLine("data      one two three four five six", 32),
            "data      one two three four\n          five six");
  EXPECT_EQ(WrapLine("short", 32), "short");
}

}  // namespace
}  // namespace hogbatch
