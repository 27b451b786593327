#include "runtime/control/coordinator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/runtime/fakes.h"

namespace hogbatch {
namespace {

// Validation losses of one evaluation after the other, the same for each row.
FakeOptions WithLosses(std::vector<double> losses) {
  FakeOptions options;
  options.evaluate = [losses, evaluation = std::size_t{0}](const Task& task) mutable {
    // All validation rows are one part.
    double loss = 1;
    if (task.split == Split::kValid) loss = losses[std::min(evaluation++, losses.size() - 1)];
    return EvaluationSums{.rows = task.rows.size(),
                          .loss = loss * static_cast<double>(task.rows.size())};
  };
  return options;
}

TEST(Coordinator, TrainsEveryRowOnceAnEpoch) {
  FakeRun run;
  const RunResult result = run.Run();
  run.ExpectEveryRowTrained(2);
  EXPECT_EQ(result.stopped_because, StopReason::kEpochs);
  EXPECT_EQ(result.totals.examples, 20000);
  EXPECT_DOUBLE_EQ(result.totals.epoch, 2);
}

TEST(Coordinator, TrainsAFractionOfAnEpoch) {
  FakeRun run{.rules = Rules(0.25)};
  EXPECT_EQ(run.Run().totals.examples, 2500);
}

TEST(Coordinator, EvaluatesTheStartingModelWhenThereIsNothingToTrain) {
  FakeRun run{.rules = Rules(0)};
  const RunResult result = run.Run();
  EXPECT_EQ(result.totals.examples, 0);
  ASSERT_TRUE(result.saved);
  EXPECT_EQ(result.saved->valid->rows, 1000);
  EXPECT_TRUE(run.saved_snapshot);
}

TEST(Coordinator, GivesAFasterWorkerMoreRows) {
  FakeRun run{.costs = {{.seconds_per_row = 1e-4}, {.seconds_per_row = 3e-4}}};
  run.rules = {.epochs = 100, .target_loss = {}, .eval_every = 1000};
  const RunResult result = run.Run();
  const double ratio = static_cast<double>(result.totals.workers[0].updates) /
                       static_cast<double>(result.totals.workers[1].updates);
  EXPECT_NEAR(ratio, 3, 0.3);
  EXPECT_GT(result.totals.workers[0].busy_fraction, 0.95);
  EXPECT_GT(result.totals.workers[1].busy_fraction, 0.95);
}

TEST(Coordinator, LowersTheLearningRateOfLargeStaleUpdates) {
  const auto divisor = [](std::int64_t gpu_rows) {
    FakeRun run{.rates = {.lr = 0.1, .lr_schedule = "constant"}};
    run.algorithm_options = {.cpu_batch = {128, 128}, .gpu_batch = {gpu_rows, gpu_rows}};
    run.evaluated = SplitRows{};
    run.workers = {{.staleness = 192}, {.kind = DeviceKind::kCuda}};
    run.Run();
    double last = 0;
    for (const Task& task : run.ledger.finished) {
      const std::int64_t rows = task.rows.size() / std::max(1, task.merges);
      if (task.kind != TaskKind::kTrain || task.worker != 0 || rows < 64) continue;
      last = 0.1 * static_cast<double>(rows) / 16 / static_cast<double>(task.learning_rate);
    }
    return last;
  };
  EXPECT_NEAR(divisor(16), 3, 1e-5) << "192 updates of others, where 64 do no harm";
  EXPECT_NEAR(divisor(32), 6, 1e-5) << "each counts as two";
  EXPECT_NEAR(divisor(8), 1.5, 1e-5) << "each counts as half";
  EXPECT_NEAR(divisor(4), 1, 1e-5) << "they count as 48";
}

// Tasks of the second worker, which is a GPU.
std::vector<Task> GpuTasks(FakeRun& run, std::int64_t batch_size) {
  run.algorithm_options = {.cpu_batch = {16, 16}, .gpu_batch = {batch_size, batch_size}};
  run.evaluated = SplitRows{};
  run.rates = {.lr = 0.1, .lr_schedule = "constant"};
  run.workers.resize(2);
  run.workers[1].kind = DeviceKind::kCuda;
  run.Run();
  std::vector<Task> tasks;
  for (const Task& task : run.ledger.finished) {
    if (task.kind != TaskKind::kTrain) continue;
    if (task.worker == 1) {
      tasks.push_back(task);
      EXPECT_TRUE(tasks.size() > 1 || task.updates_per_merge == 1)
          << "its staleness was not known yet";
    } else {
      EXPECT_EQ(task.updates_per_merge, 1) << "a core merges every update by itself";
    }
  }
  if (!tasks.empty()) tasks.erase(tasks.begin());
  return tasks;
}

TEST(Coordinator, LetsAReplicaMakeSmallUpdatesSeveralInARowBeforeItMerges) {
  FakeRun run{.merge_rows = 64};
  for (const Task& task : GpuTasks(run, 4)) {
    const std::int64_t rows = task.rows.size();
    EXPECT_GT(rows, 0);
    EXPECT_LE(rows / task.merges, 96) << "merges are nearly of the size that was asked for";
    EXPECT_GE(rows / task.merges, std::min<std::int64_t>(rows, 42));
    EXPECT_NEAR(static_cast<double>(rows) / task.merges / task.updates_per_merge, 4, 2.1);
    EXPECT_NEAR(task.learning_rate, 0.1 * (rows / task.merges / task.updates_per_merge) / 16, 1e-6)
        << "the learning rate is that of one update";
  }
  run.ExpectEveryRowTrained(2);
}

TEST(Coordinator, MergesUpdatesThatAreLargeEnoughOneByOne) {
  for (const std::int64_t rows : {33, 64, 200}) {
    FakeRun run{.merge_rows = 64};
    for (const Task& task : GpuTasks(run, rows)) EXPECT_EQ(task.updates_per_merge, 1) << rows;
  }
}

TEST(Coordinator, CountsUpdatesAndMergesOfAReplica) {
  FakeRun run{.merge_rows = 64};
  run.algorithm_options = {.cpu_batch = {16, 16}, .gpu_batch = {4, 4}};
  run.workers.resize(2);
  run.workers[1].kind = DeviceKind::kCuda;
  const RunResult result = run.Run();
  std::int64_t updates = 0, merges = 0;
  for (const Task& task : run.ledger.finished) {
    if (task.kind != TaskKind::kTrain || task.worker != 1) continue;
    updates += task.merges * task.updates_per_merge;
    merges += task.merges;
  }
  EXPECT_EQ(result.totals.workers[1].updates, updates);
  EXPECT_EQ(result.totals.staleness.count(), result.totals.workers[0].updates + merges);
  EXPECT_GT(updates, 10 * merges);
}

TEST(Coordinator, MergesNoMoreRowsThanFitAReplicasMemory) {
  FakeRun run{.merge_rows = 64};
  run.workers.resize(2);
  run.workers[1].max_batch_size = 16;
  for (const Task& task : GpuTasks(run, 4)) EXPECT_LE(task.rows.size() / task.merges, 24);
}

TEST(Coordinator, ReturnsTheRowsOfAMergeThatNeverCame) {
  for (const int call : {1, 2, 5, 9}) {
    FakeRun run{.merge_rows = 64};
    run.workers.resize(2);
    run.workers[1].fail_call = call;
    const std::vector<Task> finished = GpuTasks(run, 4);
    run.ExpectEveryRowTrained(2);
    EXPECT_EQ(run.recorder.failures.size(), 1u);
  }
}

TEST(Coordinator, MeasuresAllRowsOfEverySplitInEveryEvaluation) {
  FakeRun run{.rows = {.train = 10000, .valid = 1000, .test = 3000}};
  run.Run();
  const std::vector<Evaluation> evaluations = run.recorder.Evaluations();
  ASSERT_EQ(evaluations.size(), 3u);  // at the start and after each of two epochs
  for (const Evaluation& evaluation : evaluations) {
    EXPECT_EQ(evaluation.train->rows, 10000);
    EXPECT_EQ(evaluation.valid->rows, 1000);
    EXPECT_EQ(evaluation.test->rows, 3000);
  }
  EXPECT_DOUBLE_EQ(evaluations.front().epoch, 0);
  EXPECT_DOUBLE_EQ(evaluations.back().epoch, 2);
}

TEST(Coordinator, TrainsOnWhileItEvaluates) {
  FakeRun run;
  run.rules.epochs = 4;
  run.Run();
  // Training tasks were finished between the first and the last part of an evaluation.
  const std::vector<Task>& finished = run.ledger.finished;
  std::vector<std::size_t> snapshots;
  for (std::size_t i = 0; i < finished.size(); ++i) {
    if (finished[i].kind == TaskKind::kSnapshot) snapshots.push_back(i);
  }
  ASSERT_GE(snapshots.size(), 3u);
  int training = 0;
  int evaluating = 0;
  for (std::size_t i = snapshots[1]; evaluating < 6; ++i) {
    ASSERT_LT(i, finished.size());
    training += finished[i].kind == TaskKind::kTrain;
    evaluating += finished[i].kind == TaskKind::kEvaluate;
  }
  EXPECT_GT(training, 5);
}

TEST(Coordinator, LeavesEvaluationOutOfTrainSeconds) {
  FakeRun run;
  const RunResult result = run.Run();
  // 20,000 rows trained and 3 × 11,000 evaluated at the same cost on two workers; at the end one
  // may be idle while the other evaluates a last part of 2,048 rows.
  const double slack = 2048 * 1e-4;
  EXPECT_NEAR(result.totals.train_seconds, 20000 * 1e-4 / 2, slack);
  EXPECT_NEAR(result.totals.seconds, 53000 * 1e-4 / 2, slack);
}

TEST(Coordinator, StopsAfterMaxTimeAndStillEvaluates) {
  FakeRun run;
  run.rules.epochs = 1000;
  run.rules.max_seconds = 5;
  const RunResult result = run.Run();
  EXPECT_EQ(result.stopped_because, StopReason::kMaxTime);
  EXPECT_GE(result.totals.seconds, 5);
  EXPECT_LT(result.totals.seconds, 7);
  EXPECT_DOUBLE_EQ(run.recorder.Evaluations().back().epoch, result.totals.epoch);
}

TEST(Coordinator, StopsAtTheTargetLoss) {
  FakeRun run{.costs = {{.seconds_per_row = 1e-4}}};
  run.workers = {WithLosses({3, 2, 0.5, 0.4})};
  run.rules = {.epochs = 100, .target_loss = 0.6, .eval_every = 1};
  const RunResult result = run.Run();
  EXPECT_EQ(result.stopped_because, StopReason::kTargetLoss);
  EXPECT_LT(result.totals.epoch, 4);
}

TEST(Coordinator, RunsOutOfPatienceAndKeepsTheBestModel) {
  FakeRun run{.costs = {{.seconds_per_row = 1e-4}}};
  run.workers = {WithLosses({3, 1, 2, 2.5, 2.6, 2.7, 0.1})};
  run.rules = {.epochs = 100, .target_loss = {}, .patience = 3, .eval_every = 1};
  const RunResult result = run.Run();
  EXPECT_EQ(result.stopped_because, StopReason::kPatience);
  ASSERT_TRUE(result.saved);
  EXPECT_DOUBLE_EQ(result.saved->valid->mean_loss(), 1);
  EXPECT_NEAR(result.saved->epoch, 1, 0.2);
}

TEST(Coordinator, NeverOverwritesTheBestSnapshot) {
  FakeRun run{.costs = {{.seconds_per_row = 1e-4}}};
  run.workers = {WithLosses({3, 1, 2, 2, 2, 2})};
  run.rules = Rules(5);
  run.Run();
  ASSERT_TRUE(run.saved_snapshot);
  int copies_after_best = 0;
  int evaluation = 0;
  for (const Task& task : run.ledger.finished) {
    if (task.kind != TaskKind::kSnapshot) continue;
    ++evaluation;
    if (evaluation == 2) {
      EXPECT_EQ(task.snapshot, *run.saved_snapshot);
    } else if (evaluation > 2) {
      ++copies_after_best;
      EXPECT_NE(task.snapshot, *run.saved_snapshot);
    }
  }
  EXPECT_GE(copies_after_best, 3);
}

TEST(Coordinator, KeepsTheLastModelWithoutValidationRows) {
  FakeRun run{.rows = {.train = 10000, .valid = 0, .test = 0}};
  const RunResult result = run.Run();
  ASSERT_TRUE(result.saved);
  EXPECT_DOUBLE_EQ(result.saved->epoch, 2);
}

TEST(Coordinator, StopsWhenTheLossIsNotFiniteAndKeepsTheBestBefore) {
  FakeRun run;
  run.workers.resize(2);
  run.workers[1].loss = [](const Task& task) {
    return task.id > 200 ? std::numeric_limits<double>::quiet_NaN() : 1.0;
  };
  run.rules.epochs = 50;
  const RunResult result = run.Run();
  EXPECT_EQ(result.stopped_because, StopReason::kDiverged);
  EXPECT_EQ(run.recorder.warnings.size(), 3u);
  ASSERT_TRUE(result.saved);
  EXPECT_TRUE(std::isfinite(result.saved->valid->loss));
}

TEST(Coordinator, StopsWhenAnEvaluationIsNotFinite) {
  FakeRun run{.costs = {{.seconds_per_row = 1e-4}}};
  run.workers = {WithLosses({1, 0.9, std::nan("")})};
  run.rules.epochs = 50;
  const RunResult result = run.Run();
  EXPECT_EQ(result.stopped_because, StopReason::kDiverged);
  EXPECT_DOUBLE_EQ(result.saved->valid->mean_loss(), 0.9);
}

TEST(Coordinator, StopsLikeARuleWhenInterruptedButLeavesTrainingRowsOut) {
  Coordinator coordinator({.job = {.id = 0, .model = {}, .train_rows = 5000},
                           .rows = {.train = 5000, .valid = 500, .test = 0},
                           .rules = Rules(100),
                           .rates = LearningRate({}, 100),
                           .algorithm = MakeAlgorithm("hogbatch", {})},
                          {{.name = "cpu.0", .description = "fake"}});
  Ledger ledger;
  FakeWorker worker(0, ledger, {});
  Recorder recorder;
  double now = 0;
  std::vector<Task> tasks = coordinator.Handle(Tick{}, now).tasks;
  for (int event = 0; event < 20; ++event) {
    ASSERT_EQ(tasks.size(), 1u);
    tasks = coordinator.Handle(worker.Finish(tasks[0]), now += 0.01).tasks;
  }
  const Task last = tasks.at(0);
  EXPECT_TRUE(coordinator.Handle(Interrupt{}, now).tasks.empty());
  tasks = coordinator.Handle(worker.Finish(last), now += 0.01).tasks;
  for (int event = 0; !coordinator.done(); ++event) {
    ASSERT_LT(event, 10);
    ASSERT_EQ(tasks.size(), 1u);
    EXPECT_NE(tasks[0].kind, TaskKind::kTrain);
    const Coordinator::Actions& actions = coordinator.Handle(worker.Finish(tasks[0]), now += 0.01);
    for (const Progress& report : actions.reports) recorder.OnProgress(report);
    tasks = actions.tasks;
  }
  EXPECT_EQ(coordinator.Result().stopped_because, StopReason::kInterrupted);
  ASSERT_FALSE(recorder.Evaluations().empty());
  EXPECT_FALSE(recorder.Evaluations().back().train);
  EXPECT_EQ(recorder.Evaluations().back().valid->rows, 500);
}

TEST(Coordinator, ReportsAtTheAskedInterval) {
  FakeRun run;
  run.rules = {.epochs = 20, .target_loss = {}, .eval_every = 100, .report_every = 1};
  const RunResult result = run.Run();
  std::size_t plain = 0;
  for (const Progress& report : run.recorder.reports) plain += !report.evaluation;
  EXPECT_NEAR(static_cast<double>(plain), result.totals.seconds, 3);
  EXPECT_NEAR(run.recorder.reports[5].examples_per_second, 20000, 1500);
  EXPECT_NEAR(*run.recorder.reports[5].running_loss, 1, 1e-9);
}

}  // namespace
}  // namespace hogbatch
