// Real arithmetic in virtual time.
#include <gtest/gtest.h>

#include "tests/runtime/small_problem.h"

namespace hogbatch {
namespace {

double Accuracy(const EvaluationSums& sums) {
  return static_cast<double>(sums.correct) / static_cast<double>(sums.rows);
}

TEST(Training, LearnsWithEveryAlgorithmAndStorage) {
  for (const std::string& algorithm : AlgorithmNames()) {
    for (const Storage storage : {Storage::kDense, Storage::kSparse}) {
      SCOPED_TRACE(algorithm);
      SmallRun run{.algorithm = algorithm, .storage = storage};
      run.rules.epochs = 20;
      run.InVirtualTime();
      EXPECT_LT(Accuracy(*run.recorder.Evaluations().front().valid), 0.7);
      EXPECT_GT(Accuracy(*run.result.saved->valid), 0.9);
    }
  }
}

TEST(Training, LearnsWithEveryOptimiserAndStorage) {
  std::vector<OptimizerOptions> optimizers(4);
  optimizers[1].momentum = 0.5;
  optimizers[2].optimizer = "adam";
  optimizers[3].weight_decay = 0.01;
  for (const OptimizerOptions& optimizer : optimizers) {
    for (const std::string& algorithm : AlgorithmNames()) {
      for (const Storage storage : {Storage::kDense, Storage::kSparse}) {
        SCOPED_TRACE(optimizer.optimizer + " " + algorithm);
        SmallRun run{.algorithm = algorithm, .storage = storage, .optimizer = optimizer};
        run.rules.epochs = 10;
        if (optimizer.optimizer == "adam") run.rate.lr = 0.003;
        run.InVirtualTime();
        EXPECT_GT(Accuracy(*run.result.saved->valid), 0.85);
      }
    }
  }
}

TEST(Training, RepeatsExactlyInVirtualTime) {
  SmallRun first, second;
  EXPECT_EQ(first.InVirtualTime(), second.InVirtualTime());
}

TEST(Training, DependsOnTimingWhenAsynchronous) {
  SmallRun even, uneven{.seconds_per_row = {1e-4, 7e-4}};
  EXPECT_NE(even.InVirtualTime(), uneven.InVirtualTime());
}

TEST(SynchronousTraining, IsTheSameToTheBitWhateverTheTiming) {
  for (const Storage storage : {Storage::kDense, Storage::kSparse}) {
    for (const double momentum : {0.0, 0.9}) {
      SmallRun even{.algorithm = "sync", .storage = storage, .seconds_per_row = {1e-4, 1e-4, 1e-4}};
      even.optimizer.momentum = momentum;
      even.rate.lr = momentum > 0 ? 0.01 : 0.05;
      SmallRun uneven = even;
      uneven.seconds_per_row = {3e-4, 1e-5, 1e-4};
      SmallRun threads = even;
      const std::vector<float> model = even.InVirtualTime();
      EXPECT_EQ(model, uneven.InVirtualTime());
      EXPECT_EQ(model, threads.OnThreads());
    }
  }
}

// Two workers of 8 rows make the step that one worker of 16 rows makes.
TEST(SynchronousTraining, AveragesOverAllWorkers) {
  for (const Storage storage : {Storage::kDense, Storage::kSparse}) {
    SmallRun two{.algorithm = "sync", .storage = storage};
    two.algorithm_options.cpu_batch = {8, 8};
    two.rules.epochs = 16.0 / 2000;
    two.rate.lr_schedule = "constant";  // others have come to zero at the only step
    SmallRun one = two;
    one.algorithm_options.cpu_batch = {16, 16};
    one.seconds_per_row = {1e-4};
    const std::vector<float> a = two.InVirtualTime();
    const std::vector<float> b = one.InVirtualTime();
    EXPECT_EQ(two.result.totals.updates, 1);
    EXPECT_EQ(one.result.totals.updates, 1);
    for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-6) << i;
    SmallRun none = one;
    none.rules.epochs = 0;
    EXPECT_NE(a, none.InVirtualTime());
  }
}

// One asynchronous worker is plain SGD, and so is one synchronous worker.
TEST(Training, WithOneWorkerIsNearlyTheSameForBothAlgorithms) {
  SmallRun hogbatch{.seconds_per_row = {1e-4}};
  SmallRun sync{.algorithm = "sync", .seconds_per_row = {1e-4}};
  hogbatch.rules.epochs = sync.rules.epochs = 0.2;
  const std::vector<float> a = hogbatch.InVirtualTime();
  const std::vector<float> b = sync.InVirtualTime();
  EXPECT_EQ(hogbatch.result.totals.examples, sync.result.totals.examples);
  // Ranges are cut at other places, so that a few updates have other rows: near, not equal.
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    size += a[i] * a[i];
  }
  EXPECT_LT(difference / size, 1e-3);
}

TEST(Training, GoesOnWithoutAWorkerWhoseDeviceFails) {
  for (const std::string& algorithm : AlgorithmNames()) {
    for (std::int64_t call = 1; call < 400; call += 13) {
      SCOPED_TRACE(algorithm + " call " + std::to_string(call));
      SmallRun run{.algorithm = algorithm, .fail_call = call};
      run.rules.epochs = 2;
      run.InVirtualTime();
      EXPECT_EQ(run.result.stopped_because, StopReason::kEpochs);
      EXPECT_EQ(run.result.totals.examples + run.result.totals.lost_rows, 4000);
      EXPECT_EQ(run.recorder.failures.size(), 1u);
    }
  }
}

}  // namespace
}  // namespace hogbatch
