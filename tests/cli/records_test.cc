#include "cli/reports/records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "tests/cli/teams.h"
#include "tests/support/process.h"

namespace hogbatch {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using testing::Not;

EvaluationSums Sums(double loss) {
  EvaluationSums sums;
  sums.rows = 2;
  sums.loss = 2 * loss;
  sums.correct = 1;
  return sums;
}

Progress Totals() {
  Progress progress;
  progress.seconds = 4;
  progress.train_seconds = 2;
  progress.epoch = 3;
  progress.examples = 100;
  progress.updates = 10;
  return progress;
}

TEST(MetricsLine, LeavesOutWhatWasNotMeasured) {
  const std::string line = MetricsLine(Totals(), {});
  EXPECT_EQ(line, R"({"seconds":4.0,"train_seconds":2.0,"epoch":3.0,"examples":100,"updates":10,)"
                  R"("examples_per_second":0.0})");
}

TEST(MetricsLine, LeavesOutWhatIsNotFinite) {
  Progress progress = Totals();
  progress.running_loss = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(MetricsLine(progress, {}), Not(HasSubstr("running_loss")));
}

TEST(MetricsLine, NamesLossesAndQualitiesBySplit) {
  Progress progress = Totals();
  progress.evaluation = Evaluation{.epoch = 2, .train = Sums(1), .valid = {}, .test = Sums(0.5)};
  const std::string line = MetricsLine(progress, {});
  EXPECT_EQ(ValueOf(line, "train_loss"), "1.0");
  EXPECT_EQ(ValueOf(line, "test_loss"), "0.5");
  EXPECT_EQ(ValueOf(line, "test_accuracy"), "0.5");
  EXPECT_FALSE(HasKey(line, "valid_loss"));
  EXPECT_TRUE(HasKey(MetricsLine(progress, {.loss = Loss::kSigmoid}), "test_precision_at_5"));
  EXPECT_TRUE(HasKey(MetricsLine(progress, {.loss = Loss::kSquared}), "test_rmse"));
}

Json Parsed(const std::string& text) { return Json::parse(text); }

TEST(MetricsLine, SaysHowWorkersAndTeamsStand) {
  Progress progress = CoresAndGpu();
  progress.lost_rows = 3;
  progress.workers[1].failure = "it broke";
  const Json line = Parsed(MetricsLine(progress, {}));
  const auto expected = Parsed(R"({
    "updates_by_worker": {"cpu.0": 5200, "opencl.0": 4800},
    "batch_rows_by_worker": {"cpu.0": 64, "opencl.0": 128},
    "busy_fraction_by_worker": {"cpu.0": 0.5, "opencl.0": 0.75},
    "failures_by_worker": {"opencl.0": "it broke"},
    "update_share_by_team": {"cpu": 0.52, "opencl.0": 0.48},
    "rows_per_second_by_team": {"cpu": 41600, "opencl.0": 76800},
    "bounds_hit": {"cpu": {"bound": "max", "rows": 64, "share_of_reviews": 0.97}},
    "staleness": {"0": 1, "1": 0, "2": 2, "4": 0, "8": 1},
    "beta": 0.99,
    "lost_rows": 3})");
  for (const auto& [key, value] : expected.items()) EXPECT_EQ(line.value(key, Json()), value);
}

TEST(MetricsLine, OfOneWorkerLeavesOutHowItStandsToOthers) {
  Progress progress = CoresAndGpu();
  progress.workers.resize(1);
  progress.teams.resize(1);
  const Json line = Parsed(MetricsLine(progress, {}));
  for (const char* key : {"updates_by_worker", "batch_rows_by_worker", "busy_fraction_by_worker"}) {
    EXPECT_TRUE(line.contains(key)) << key;
  }
  for (const char* key : {"update_share_by_team", "rows_per_second_by_team", "bounds_hit",
                          "staleness", "beta", "lost_rows", "failures_by_worker"}) {
    EXPECT_FALSE(line.contains(key)) << key;
  }
}

TEST(MetricsLine, HasNoKeysForWhatTeamsDidNotMeasure) {
  Progress progress = CoresAndGpu();
  progress.bound_teams.clear();
  progress.staleness = {};
  progress.beta.reset();
  progress.workers[0].batch_size = 0;  // no update yet
  const Json line = Parsed(MetricsLine(progress, {}));
  EXPECT_FALSE(line.contains("staleness"));
  EXPECT_FALSE(line.contains("beta"));
  EXPECT_EQ(line["bounds_hit"], Json::object());
  EXPECT_EQ(line["batch_rows_by_worker"], Json({{"opencl.0", 128}}));
}

TEST(SummaryText, SaysHowTeamsStoodOverTheRunEvenWhenThereWasOne) {
  RunResult result;
  result.totals = CoresAndGpu();
  EXPECT_EQ(Parsed(SummaryText(result, {.algorithm = "adaptive", .out = "x"}, {}))["bounds_hit"],
            Parsed(R"({"cpu": {"bound": "max", "rows": 64, "share_of_reviews": 0.97}})"));
  result.totals.workers.resize(1);
  result.totals.teams.resize(1);
  const auto alone = Parsed(SummaryText(result, {.algorithm = "hogbatch", .out = "x"}, {}));
  EXPECT_EQ(alone["beta"], 0.99);
  EXPECT_EQ(alone["rows_per_second_by_team"], Json({{"cpu", 41600.0}}));
}

TEST(SummaryText, HoldsTheSavedModelsLossesAndTheRunsTotals) {
  RunResult result;
  result.totals = Totals();
  result.stopped_because = StopReason::kPatience;
  result.saved = Evaluation{.epoch = 2, .train = {}, .valid = Sums(0.25), .test = {}};
  result.totals.workers = {
      {.name = "cpu.0", .updates = 6, .busy_fraction = 0.5, .failure = ""},
      {.name = "cpu.1", .updates = 4, .busy_fraction = 0.75, .failure = "it broke"}};
  const std::string summary = SummaryText(result,
                                          {.algorithm = "hogbatch",
                                           .devices = {"cpu.0", "cpu.1"},
                                           .seed = 7,
                                           .parameters = 42,
                                           .out = "runs/x"},
                                          {});
  EXPECT_EQ(ValueOf(summary, "format"), "1");
  EXPECT_EQ(ValueOf(summary, "valid_loss"), "0.25");
  EXPECT_EQ(ValueOf(summary, "best_epoch"), "2.0");
  EXPECT_EQ(ValueOf(summary, "epoch"), "3.0");
  EXPECT_EQ(ValueOf(summary, "examples_per_second"), "50.0");
  EXPECT_EQ(ValueOf(summary, "stopped_because"), "patience");
  EXPECT_EQ(ValueOf(summary, "parameters"), "42");
  EXPECT_THAT(summary, HasSubstr("\"updates_by_worker\": {\n    \"cpu.0\": 6"));
  EXPECT_THAT(summary, HasSubstr("\"busy_fraction_by_worker\": {\n    \"cpu.0\": 0.5"));
  EXPECT_THAT(summary, HasSubstr("\"failures_by_worker\": {\n    \"cpu.1\": \"it broke\""));
  EXPECT_FALSE(HasKey(summary, "test_loss"));
}

TEST(OptionsText, WritesEveryOptionAsItWasUsed) {
  TrainOptions options;
  options.spec.data = "mine.csv";
  options.spec.hidden = {7, 8};
  TrainingPlan plan{.work = {}, .algorithm = "hogbatch"};
  plan.learning_rate.lr = 0.25;
  plan.work.model = {.inputs = 3, .hidden = {7, 8}, .outputs = 2};
  const Devices devices{.chosen = {}, .processor = "P", .host_memory_bytes = 5, .cores = 2};
  TrainingInput input;
  input.training.data.source = "mine.csv";
  input.training.data.rows = 10;
  input.training.train_rows = 9;
  const std::string text =
      OptionsText(options, plan, {.started = "now", .devices = devices, .input = input});
  EXPECT_EQ(ValueOf(text, "options_format"), "1");
  EXPECT_EQ(ValueOf(text, "data"), "mine.csv");
  EXPECT_EQ(ValueOf(text, "lr"), "0.25");
  EXPECT_EQ(ValueOf(text, "algorithm"), "hogbatch");
  EXPECT_THAT(text, HasSubstr("\"hidden\": [\n    7,\n    8\n  ]"));
  EXPECT_FALSE(HasKey(text, "test"));
  const Json options_json = Parsed(text);
  EXPECT_EQ(options_json["started"], "now");
  EXPECT_EQ(options_json["machine"],
            Parsed(R"({"processor": "P", "cores": 2, "memory_bytes": 5, "workers": []})"));
  EXPECT_EQ(options_json["dataset"]["rows"], 9);
  EXPECT_EQ(options_json["dataset"]["validation_rows"], 1);
  EXPECT_EQ(options_json["network"]["parameters"], 4 * 7 + 8 * 8 + 9 * 2);
}

}  // namespace
}  // namespace hogbatch
