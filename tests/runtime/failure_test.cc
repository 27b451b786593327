// Workers that fail: no row is lost and the run goes on.
#include <gtest/gtest.h>

#include "tests/runtime/fakes.h"

namespace hogbatch {
namespace {

TEST(Failure, OfAWorkerLosesNoRowWhereverItHappens) {
  for (int call = 1; call <= 60; ++call) {
    SCOPED_TRACE(call);
    FakeRun run{.rows = {.train = 2000, .valid = 100, .test = 0}};
    run.workers.resize(2);
    run.workers[1].fail_call = call;
    const RunResult result = run.Run();
    run.ExpectEveryRowTrained(2);
    EXPECT_EQ(result.stopped_because, StopReason::kEpochs);
    EXPECT_EQ(result.totals.workers[1].failure, "injected");
    EXPECT_EQ(run.recorder.failures, std::vector<std::string>{"cpu.1: injected"});
  }
}

TEST(Failure, OfASynchronousWorkerLeavesTheRoundsOfTheOthersWhole) {
  for (int call = 1; call <= 60; ++call) {
    SCOPED_TRACE(call);
    FakeRun run{.algorithm = "sync", .rows = {.train = 2000, .valid = 100, .test = 0}};
    run.costs.resize(3, {.seconds_per_row = 1e-4});
    run.workers.resize(3);
    run.workers[1].fail_call = call;
    const RunResult result = run.Run();
    run.ExpectEveryRowTrained(2);
    EXPECT_EQ(result.stopped_because, StopReason::kEpochs);
  }
}

TEST(Failure, OfTheLastWorkerEndsTheRun) {
  FakeRun run;
  run.workers.resize(2);
  run.workers[0].fail_call = 30;
  run.workers[1].fail_call = 50;
  const RunResult result = run.Run();
  EXPECT_EQ(result.stopped_because, StopReason::kNoWorkers);
  EXPECT_EQ(run.recorder.failures.size(), 2u);
}

}  // namespace
}  // namespace hogbatch
