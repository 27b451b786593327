// Whole runs with workers whose devices share no memory with the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/runtime/small_problem.h"

namespace hogbatch {
namespace {

SmallRun DistantRun(const std::string& algorithm, Storage storage, int workers, int distant) {
  SmallRun run{.algorithm = algorithm, .storage = storage};
  run.algorithm_options.gpu_batch = {32, 32};
  run.seconds_per_row.assign(workers, 1e-4);
  run.distant = distant;
  run.rate.lr_scaling = "none";
  return run;
}

bool AllFinite(const std::vector<float>& model) {
  return std::ranges::all_of(model, [](float w) { return std::isfinite(w); });
}

double Accuracy(const SmallRun& run) {
  const EvaluationSums& valid = *run.result.saved->valid;
  return static_cast<double>(valid.correct) / static_cast<double>(valid.rows);
}

TEST(DistantRun, LearnsAloneWithEveryAlgorithmAndStorage) {
  for (const std::string& algorithm : AlgorithmNames()) {
    for (const Storage storage : {Storage::kDense, Storage::kSparse}) {
      SCOPED_TRACE(algorithm);
      SmallRun in_virtual_time = DistantRun(algorithm, storage, 1, 1);
      in_virtual_time.rules.epochs = 20;
      SmallRun on_threads = in_virtual_time;
      in_virtual_time.InVirtualTime();
      on_threads.OnThreads();
      for (const SmallRun& run : {in_virtual_time, on_threads}) {
        EXPECT_TRUE(run.recorder.failures.empty()) << run.recorder.failures.front();
        EXPECT_EQ(run.result.stopped_because, StopReason::kEpochs);
        EXPECT_EQ(run.result.totals.examples, 40000);
        EXPECT_GT(Accuracy(run), 0.9);
      }
    }
  }
}

TEST(DistantRun, TrainsOneModelTogetherWithWorkersThatShareIt) {
  for (const std::string& algorithm : AlgorithmNames()) {
    for (const Storage storage : {Storage::kDense, Storage::kSparse}) {
      SCOPED_TRACE(algorithm);
      SmallRun run = DistantRun(algorithm, storage, 4, 2);
      run.rules.epochs = 20;
      run.optimizer.weight_decay = 0.001;
      run.OnThreads();
      EXPECT_TRUE(run.recorder.failures.empty()) << run.recorder.failures.front();
      EXPECT_EQ(run.result.totals.examples, 40000);
      EXPECT_GT(run.result.totals.workers.back().updates, 0);
      EXPECT_GT(Accuracy(run), 0.85);
    }
  }
}

// Rows are dealt and sums are ordered the same way, so where a worker computes makes no difference.
TEST(DistantRun, IsSynchronousToTheBitWhereverItsWorkersAre) {
  for (const Storage storage : {Storage::kDense, Storage::kSparse}) {
    for (const double momentum : {0.0, 0.9}) {
      SmallRun shared = DistantRun("sync", storage, 3, 0);
      shared.algorithm_options = {.cpu_batch = {16, 16}, .gpu_batch = {16, 16}};
      shared.optimizer.momentum = momentum;
      shared.optimizer.weight_decay = 0.01;
      shared.rate.lr = 0.02;
      SmallRun mixed = shared, threads = shared;
      mixed.distant = 2;
      threads.distant = 3;
      const std::vector<float> model = shared.InVirtualTime();
      EXPECT_EQ(model, mixed.InVirtualTime());
      EXPECT_EQ(model, threads.OnThreads());
      EXPECT_TRUE(mixed.recorder.failures.empty() && threads.recorder.failures.empty());
    }
  }
}

TEST(DistantRun, LearnsWithEveryOptimiser) {
  std::vector<OptimizerOptions> optimizers(3);
  optimizers[0].momentum = 0.5;
  optimizers[1].optimizer = "adam";
  optimizers[2].weight_decay = 0.01;
  for (const OptimizerOptions& optimizer : optimizers) {
    for (const Storage storage : {Storage::kDense, Storage::kSparse}) {
      SCOPED_TRACE(optimizer.optimizer);
      SmallRun run = DistantRun("hogbatch", storage, 2, 1);
      run.optimizer = optimizer;
      run.rules.epochs = 15;
      if (optimizer.optimizer == "adam") run.rate.lr = 0.003;
      run.InVirtualTime();
      EXPECT_TRUE(run.recorder.failures.empty()) << run.recorder.failures.front();
      EXPECT_GT(Accuracy(run), 0.85);
    }
  }
}

// Every call of the device fails once in a short run: the failure is told, the model stays one, and
// others go on.
void ExpectFailuresToBeSurvived(SmallRun run) {
  run.train_rows = 96;
  run.rules.epochs = 1;
  const bool alone = run.seconds_per_row.size() == 1;
  for (std::int64_t call = 1;; ++call) {
    SCOPED_TRACE(run.algorithm + " call " + std::to_string(call));
    SmallRun failing = run;
    failing.fail_call = call;
    const std::vector<float> model = failing.InVirtualTime();
    if (failing.recorder.failures.empty()) {
      EXPECT_GT(call, 100);
      return;
    }
    ASSERT_EQ(failing.recorder.failures.size(), 1u);
    ASSERT_NE(failing.recorder.failures[0].find("injected"), std::string::npos)
        << failing.recorder.failures[0];
    ASSERT_TRUE(AllFinite(model));
    if (alone) {
      ASSERT_EQ(failing.result.stopped_because, StopReason::kNoWorkers);
    } else {
      ASSERT_EQ(failing.result.stopped_because, StopReason::kEpochs);
      ASSERT_EQ(failing.result.totals.examples + failing.result.totals.lost_rows, run.train_rows);
    }
  }
}

TEST(DistantRun, EndsWithTheFailureToldWhereverItsOnlyDeviceFails) {
  for (const std::string& algorithm : AlgorithmNames()) {
    for (const Storage storage : {Storage::kDense, Storage::kSparse}) {
      SmallRun run = DistantRun(algorithm, storage, 1, 1);
      run.optimizer.momentum = 0.5;
      ExpectFailuresToBeSurvived(run);
    }
  }
}

TEST(DistantRun, GoesOnWithoutADeviceWhereverItFails) {
  for (const std::string& algorithm : AlgorithmNames()) {
    SmallRun run = DistantRun(algorithm, Storage::kSparse, 2, 1);
    run.optimizer.weight_decay = 0.1;
    ExpectFailuresToBeSurvived(run);
  }
}

TEST(DistantRun, SurvivesAFailureOnThreads) {
  for (const std::int64_t call : {3, 40, 200, 300}) {
    SmallRun run = DistantRun("hogbatch", Storage::kSparse, 2, 1);
    run.fail_call = call;
    EXPECT_TRUE(AllFinite(run.OnThreads()));
    EXPECT_EQ(run.result.totals.examples + run.result.totals.lost_rows, 6000);
    // The first calls prepare the device. Later ones it may not reach before the core has trained
    // all rows.
    EXPECT_TRUE(run.recorder.failures.size() == 1 || (call > 40 && run.recorder.failures.empty()));
  }
}

}  // namespace
}  // namespace hogbatch
