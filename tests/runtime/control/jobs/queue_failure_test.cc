// A device that fails in the middle of several jobs: every row of each is accounted for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/runtime/control/jobs/fake_queue.h"
#include "tests/runtime/control/jobs/queue_run.h"

namespace hogbatch {
namespace {

class FailingDevice : public testing::TestWithParam<std::string> {
 protected:
  static QueueRun MakeRun(Time time, int cores, int distant, std::int64_t fail_call) {
    return {.time = time,
            .scheduler = GetParam(),
            .jobs = {{.rows = 300, .optimizer = {.momentum = 0.9}},
                     {.rows = 200, .exclusive = true},
                     {.rows = 400, .epochs = 1, .hidden = {20, 5}, .storage = Storage::kSparse},
                     {.rows = 100, .epochs = 3, .arrives = 0.001}},
            .cores = cores,
            .distant = distant,
            .fail_call = fail_call};
  }

  // Every row was trained or lost as often as it should be, and the job says the same.
  static void ExpectBalanced(QueueRun& run) {
    for (std::size_t i = 0; i < run.jobs.size(); ++i) {
      SCOPED_TRACE(testing::Message() << "job " << i);
      const auto job = static_cast<JobId>(i);
      EXPECT_EQ(run.results[i].stopped_because, StopReason::kEpochs);
      EXPECT_EQ(run.results[i].totals.examples, run.ledger->trained(job));
      EXPECT_EQ(run.results[i].totals.lost_rows, run.ledger->lost(job));
      const std::vector<int> times = run.ledger->times(job);
      ASSERT_EQ(std::ssize(times), run.jobs[i].rows);
      for (const int n : times) ASSERT_EQ(n, static_cast<int>(run.jobs[i].epochs));
      for (const float weight : run.models[i]) ASSERT_TRUE(std::isfinite(weight));
    }
  }

  // Whichever call fails; `growth` says how many of them are tried.
  static void ExpectNoLossOf(Time time, double growth) {
    for (std::int64_t call = 1; call < 2000;
         call = static_cast<std::int64_t>(growth * static_cast<double>(call)) + 1) {
      for (const int distant : {0, 1}) {
        SCOPED_TRACE(testing::Message() << "call " << call << ", distant " << distant);
        QueueRun run = MakeRun(time, 2, distant, call);
        run.Run();
        ExpectBalanced(run);
      }
    }
  }
};

TEST_P(FailingDevice, LosesNoRowSilentlyInVirtualTime) { ExpectNoLossOf(Time::kVirtual, 1.25); }

TEST_P(FailingDevice, LosesNoRowSilentlyOnThreads) { ExpectNoLossOf(Time::kReal, 1.5); }

TEST_P(FailingDevice, StaysWithTheOtherJobsWhenOneRunsOutOfMemory) {
  int excluded = 0;
  for (const Time time : {Time::kVirtual, Time::kReal}) {
    for (std::int64_t call = 1; call < 2000; call += call / 2 + 1) {
      SCOPED_TRACE(testing::Message() << "call " << call);
      QueueRun run = MakeRun(time, 2, 0, call);
      run.fault = sim::Fault::kHostMemory;
      run.Run();
      ExpectBalanced(run);
      excluded += static_cast<int>(run.recorder.job_warnings.size());
      EXPECT_LE(run.recorder.job_warnings.size(), 1u)
          << testing::PrintToString(run.recorder.job_warnings);
    }
  }
  EXPECT_GT(excluded, 10);
}

// Its queued calls may use memory that was freed when host memory ran out.
TEST_P(FailingDevice, WithItsOwnMemoryIsLostWhenHostMemoryRunsOut) {
  for (std::int64_t call = 1; call < 2000; call += call / 2 + 1) {
    SCOPED_TRACE(testing::Message() << "call " << call);
    QueueRun run = MakeRun(Time::kVirtual, 2, 1, call);
    run.fault = sim::Fault::kHostMemory;
    run.Run();
    ExpectBalanced(run);
    EXPECT_TRUE(run.recorder.job_warnings.empty());
  }
}

TEST_P(FailingDevice, EndsOnlyTheJobThatRunsOutOfMemoryOnTheOnlyWorker) {
  for (const std::int64_t call : {40, 150, 400}) {
    SCOPED_TRACE(testing::Message() << "call " << call);
    QueueRun run = MakeRun(Time::kVirtual, 1, 0, call);
    run.fault = sim::Fault::kHostMemory;
    run.Run();
    int ended = 0, trained = 0;
    for (const RunResult& result : run.results) {
      ended += result.stopped_because == StopReason::kNoWorkers;
      trained += result.stopped_because == StopReason::kEpochs;
    }
    EXPECT_EQ(ended, 1);
    EXPECT_EQ(trained, 3);
  }
}

INSTANTIATE_TEST_SUITE_P(All, FailingDevice, testing::ValuesIn(SchedulerNames()),
                         [](const auto& tested) { return tested.param; });

// Six jobs of all kinds on cores and devices that share no host memory.
TEST(SharedDevices, TrainJobsOfAllKinds) {
  for (const std::string& scheduler : SchedulerNames()) {
    for (const Time time : {Time::kVirtual, Time::kReal}) {
      QueueRun run{.time = time,
                   .scheduler = scheduler,
                   .jobs = {{.rows = 2000, .epochs = 4},
                            {.rows = 1000,
                             .hidden = {30, 20},
                             .optimizer = {.optimizer = "adam"},
                             .lr = 0.002},
                            {.rows = 600, .exclusive = true, .kind = DeviceKind::kCpu},
                            {.rows = 800, .algorithm = "sync"},
                            {.rows = 1500, .storage = Storage::kSparse, .arrives = 0.005},
                            {.rows = 700,
                             .optimizer = {.momentum = 0.5},
                             .exclusive = true,
                             .kind = DeviceKind::kCuda}},
                   .cores = 2,
                   .distant = 1};
      run.Run();
      for (std::size_t i = 0; i < run.jobs.size(); ++i) {
        SCOPED_TRACE(testing::Message() << scheduler << ", job " << i);
        const RunResult& result = run.results[i];
        EXPECT_EQ(result.stopped_because, StopReason::kEpochs);
        EXPECT_EQ(result.totals.examples, run.jobs[i].rows * run.jobs[i].epochs);
        EXPECT_EQ(result.totals.lost_rows, 0);
        ASSERT_TRUE(result.saved);
        EXPECT_LT(result.saved->valid->mean_loss(), 0.75);
      }
      EXPECT_LT(run.results[0].saved->valid->mean_loss(), 0.5) << "it has learnt";
    }
  }
}

// A worker that copies into a snapshot waits until the file writer has read it.
TEST(SlowDisk, GivesUpNoWorkerThatKeepsTheBestLanes) {
  JobSetup setup = FakeQueue::SetupOf({.rows = 100, .epochs = 3, .valid_rows = 10});
  setup.job.most_workers = 1;
  setup.lanes.assign(2, {.rates = setup.rates, .rules = setup.rules});
  const std::unique_ptr<Scheduler> scheduler = MakeScheduler("fifo", {});
  Coordinator coordinator(*scheduler, {.workers = {{.name = "cpu.0", .description = "fake"}}});
  coordinator.Add(setup);
  double now = 0, loss = 100;
  int kept = 0;
  for (std::vector<Task> tasks = coordinator.Handle(Tick{}, now).tasks; !tasks.empty();) {
    const Task task = tasks.front();
    if (task.kind == TaskKind::kSnapshot || task.kind == TaskKind::kKeepLanes) {
      kept += task.kind == TaskKind::kKeepLanes ? 1 : 0;
      EXPECT_THAT(coordinator.Handle(Tick{}, now += 1e6).failures, testing::IsEmpty());
    }
    Report report{.task = task.id, .lanes = std::vector<LaneReport>(2)};
    if (task.kind == TaskKind::kTrain) report.updates = report.merges = task.merges;
    // The second lane gets worse, so that its best one is kept.
    report.lanes[0].evaluation = {.rows = task.rows.size(), .loss = loss -= 1};
    report.lanes[1].evaluation = {.rows = task.rows.size(), .loss = 200 - loss};
    tasks = coordinator.Handle(report, now += 0.01).tasks;
  }
  EXPECT_TRUE(coordinator.done());
  EXPECT_GT(kept, 0);
}

}  // namespace
}  // namespace hogbatch
