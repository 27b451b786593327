// What a run on threads leaves in its trace.
#include <gtest/gtest.h>

#include <memory>

#include "algorithms/algorithms.h"
#include "tests/runtime/fakes.h"

namespace hogbatch {
namespace {

// Two fake workers train 1,000 rows twice and evaluate.
struct TracedRun {
  explicit TracedRun(const std::string& algorithm_name, int depth = 1) : trace(2) {
    Coordinator coordinator(
        {.job = {.id = 0,
                 .model = {},
                 .train_rows = 1000,
                 .synchronous = FindAlgorithm(algorithm_name).traits.synchronous},
         .rows = {.train = 1000, .valid = 10, .test = 0},
         .rules = Rules(2),
         .rates = LearningRate({}, 2),
         .algorithm = MakeAlgorithm(algorithm_name, {}),
         .task_seconds = 0},
        {{.name = "a", .depth = depth}, {.name = "b", .depth = depth}});
    Ledger ledgers[2];
    const std::vector<WorkerFactory> workers = {
        [&] { return std::make_unique<FakeWorker>(0, ledgers[0], FakeOptions{}); },
        [&] { return std::make_unique<FakeWorker>(1, ledgers[1], FakeOptions{}); }};
    Recorder recorder;
    MakeThreadExecutor(workers, Pinning::kNone, {}, &trace)->Run(coordinator, recorder);
    totals = coordinator.Result().totals;
  }

  // Over all workers.
  std::int64_t Count(Activity activity) const {
    std::int64_t count = 0;
    for (const WorkerTrace& worker : trace.workers()) {
      for (const TaskSpan& span : worker.spans()) count += span.activity == activity;
    }
    return count;
  }

  RunTrace trace;
  Progress totals;
};

TEST(Trace, HoldsEveryRowAndUpdateOfTheRun) {
  for (const int depth : {1, 2}) {
    const TracedRun run("hogbatch", depth);
    std::int64_t rows = 0, updates = 0;
    for (const WorkerTrace& worker : run.trace.workers()) {
      for (const TaskSpan& span : worker.spans()) {
        if (span.activity != Activity::kTraining) continue;
        rows += span.rows;
        updates += span.updates;
      }
      EXPECT_EQ(worker.left_out(), 0);
    }
    EXPECT_EQ(rows, run.totals.examples);
    EXPECT_EQ(updates, run.totals.updates);
    EXPECT_GE(run.Count(Activity::kSnapshot), 2);
    EXPECT_GE(run.Count(Activity::kEvaluation), 4) << "training and validation rows, twice";
  }
}

TEST(Trace, HasTheTasksOfAWorkerOneAfterTheOther) {
  for (const int depth : {1, 2}) {
    const TracedRun run("hogbatch", depth);
    for (const WorkerTrace& worker : run.trace.workers()) {
      double ended = run.trace.began();
      for (const TaskSpan& span : worker.spans()) {
        EXPECT_GE(span.begin, ended - 1e-9) << "a viewer cannot show tasks that overlap";
        EXPECT_GE(span.end, span.begin);
        ended = span.end;
      }
    }
  }
}

TEST(Trace, ShowsTheSlicesOfSynchronousRounds) {
  EXPECT_GT(TracedRun("sync").Count(Activity::kApplying), 0);
  EXPECT_EQ(TracedRun("hogbatch").Count(Activity::kApplying), 0);
}

}  // namespace
}  // namespace hogbatch
