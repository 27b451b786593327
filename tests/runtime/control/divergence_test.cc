// Where a run that diverges goes on, and at which learning rate.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/runtime/fakes.h"

namespace hogbatch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Loses the loss once, at the n-th training task.
std::function<double(const Task&)> NanAt(int call) {
  return [call, calls = 0](const Task& task) mutable {
    return ++calls == call ? kNan : static_cast<double>(task.rows.size());
  };
}

// The mean loss of each evaluation in turn, and then the last one.
FakeOptions Evaluating(std::vector<double> losses) {
  FakeOptions options;
  options.evaluate = [losses, last = -1.0, next = std::size_t{0}](const Task& task) mutable {
    if (task.split == Split::kValid) last = losses[std::min(next++, losses.size() - 1)];
    return EvaluationSums{.rows = task.rows.size(),
                          .loss = last * static_cast<double>(task.rows.size())};
  };
  return options;
}

class Divergence : public testing::TestWithParam<const char*> {};

TEST_P(Divergence, GoesBackToTheBestModelAtHalfTheRateWhereverItHappens) {
  for (int call = 1; call <= 40; ++call) {
    SCOPED_TRACE(call);
    FakeRun run{.algorithm = GetParam(), .rows = {.train = 2000, .valid = 100, .test = 0}};
    run.rates.lr = 0.5;
    run.rates.lr_schedule = "constant";
    run.workers.resize(2);
    run.workers[1].loss = NanAt(call);
    const RunResult result = run.Run();
    if (run.recorder.warnings.empty()) break;  // the run has fewer tasks
    EXPECT_EQ(result.stopped_because, StopReason::kEpochs);
    EXPECT_THAT(run.recorder.warnings, ElementsAre(HasSubstr("(--lr 0.25; attempt")));
    EXPECT_EQ(result.rate_factor, 0.5);
    EXPECT_EQ(result.totals.examples, 4000);
    EXPECT_TRUE(std::isfinite(result.totals.updates_per_second));
    for (const int times : run.ledger.trained) EXPECT_GE(times, 2);
  }
}

TEST_P(Divergence, SurvivesAWorkerThatFailsWhileItGoesBack) {
  for (int call = 1; call <= 40; ++call) {
    SCOPED_TRACE(call);
    FakeRun run{.algorithm = GetParam(), .rows = {.train = 2000, .valid = 100, .test = 0}};
    run.costs.resize(3, {.seconds_per_row = 1e-4});
    run.workers.resize(3);
    run.workers[1].loss = NanAt(3);
    run.workers[2].fail_call = call;
    const RunResult result = run.Run();
    EXPECT_EQ(result.stopped_because, StopReason::kEpochs);
    EXPECT_EQ(result.totals.examples, 4000);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Divergence, testing::Values("hogbatch", "adaptive", "sync"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST(Explosion, OfTheLossIsTwentyTimesTheFirst) {
  FakeRun run{.costs = {{.seconds_per_row = 1e-4}}};
  run.workers = {Evaluating({2, 1, 39, 41, 1})};
  run.rules.epochs = 4;
  const RunResult result = run.Run();
  EXPECT_EQ(result.stopped_because, StopReason::kEpochs);
  EXPECT_THAT(run.recorder.warnings,
              ElementsAre(HasSubstr("at epoch 3 (the loss rose from 2 to 41); it goes back to the "
                                    "model of epoch 1")));
  std::vector<double> epochs;
  for (const Evaluation& evaluation : run.recorder.Evaluations())
    epochs.push_back(evaluation.epoch);
  EXPECT_THAT(epochs, ElementsAre(0, 1, 2, 3, 2, 3, 4));
}

TEST(Explosion, OfTheLastModelIsNoEnd) {
  FakeRun run{.rows = {.train = 10000, .valid = 0, .test = 0},
              .costs = {{.seconds_per_row = 1e-4}},
              .evaluated = SplitRows{.train = 0, .valid = 1000, .test = 0}};
  run.workers = {Evaluating({1, 0.5, 1e9, 0.4})};
  const RunResult result = run.Run();
  EXPECT_EQ(result.stopped_because, StopReason::kEpochs);
  EXPECT_THAT(run.recorder.warnings, SizeIs(1));
  EXPECT_DOUBLE_EQ(result.saved->valid->mean_loss(), 0.4);
}

TEST(Explosion, NeverBecomesTheModelThatIsSaved) {
  FakeRun run{.costs = {{.seconds_per_row = 1e-4}}};
  run.workers = {Evaluating({1, 1e9})};
  const RunResult result = run.Run();
  EXPECT_EQ(result.stopped_because, StopReason::kDiverged);
  EXPECT_EQ(result.rate_factor, 0.125);
  EXPECT_DOUBLE_EQ(result.saved->epoch, 0);
}

}  // namespace
}  // namespace hogbatch
