// Jobs that share workers: they arrive, end, diverge, fail and are interrupted one by one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "tests/runtime/control/jobs/fake_queue.h"

namespace hogbatch {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;
using testing::UnorderedElementsAre;

std::vector<FakeJob> SixJobs() {
  return {{.rows = 3000, .epochs = 2, .valid_rows = 500},
          {.rows = 1000, .epochs = 3, .most_workers = 1, .valid_rows = 100},
          {.rows = 5000, .valid_rows = 3000},
          {.rows = 2000, .epochs = 2, .algorithm = "sync", .valid_rows = 300},
          {.rows = 4000, .arrives = 0.2},
          {.rows = 100, .epochs = 5, .arrives = 0.1, .most_workers = 1}};
}

class Jobs : public testing::TestWithParam<std::string> {
 protected:
  FakeQueue MakeQueue() const {
    FakeQueue queue{.scheduler = GetParam(), .options = {.short_seconds = 0.1}};
    queue.jobs = SixJobs();
    queue.workers.resize(3);
    queue.workers[2] = {.kind = DeviceKind::kCuda, .depth = 2};
    return queue;
  }
};

TEST_P(Jobs, TrainEveryRowOfEachAndEvaluateIt) {
  FakeQueue queue = MakeQueue();
  queue.Run();
  queue.ExpectAllTrained();
  EXPECT_THAT(queue.recorder.ended, UnorderedElementsAre(0, 1, 2, 3, 4, 5));
  for (std::size_t job = 0; job < queue.jobs.size(); ++job) {
    SCOPED_TRACE(job);
    const RunResult& result = queue.results[job];
    EXPECT_EQ(result.stopped_because, StopReason::kEpochs);
    EXPECT_EQ(result.totals.examples, queue.jobs[job].rows * queue.jobs[job].epochs);
    EXPECT_EQ(result.saved.has_value(), queue.jobs[job].valid_rows > 0);
    if (!result.saved) continue;
    EXPECT_EQ(result.saved->valid->rows, queue.jobs[job].valid_rows);
  }
  std::map<JobId, int> evaluations;
  for (const Progress& report : queue.recorder.reports) {
    if (report.evaluation) ++evaluations[report.job];
  }
  EXPECT_THAT(evaluations, ElementsAre(Pair(0, 3), Pair(1, 4), Pair(2, 2), Pair(3, 3)));
}

// Whichever worker fails, and whenever: the rows of each job are trained as often as asked for.
TEST_P(Jobs, LoseNoRowWhenAWorkerFails) {
  for (int worker = 0; worker < 3; ++worker) {
    for (int call = 1; call < 37; call += 3) {
      SCOPED_TRACE(testing::Message() << "worker " << worker << ", call " << call);
      FakeQueue queue = MakeQueue();
      queue.workers[static_cast<std::size_t>(worker)].fail_call = call;
      queue.Run();
      EXPECT_THAT(queue.recorder.failures, SizeIs(1));
      for (const RunResult& result : queue.results) {
        EXPECT_EQ(result.stopped_because, StopReason::kEpochs);
        EXPECT_EQ(result.totals.lost_rows, 0);
      }
      queue.ExpectAllTrained();
    }
  }
}

TEST_P(Jobs, EndWhenTheLastWorkerFails) {
  FakeQueue queue = MakeQueue();
  for (FakeOptions& worker : queue.workers) worker.fail_call = 12;
  queue.Run();
  EXPECT_THAT(queue.recorder.failures, SizeIs(3));
  EXPECT_THAT(queue.recorder.ended, SizeIs(6));
  for (std::size_t job = 0; job < queue.results.size(); ++job) {
    std::int64_t trained = 0;
    for (const int times : queue.trained[static_cast<JobId>(job)]) trained += times;
    // A round that was not applied is lost with its rows.
    EXPECT_EQ(queue.results[job].totals.examples + queue.results[job].totals.lost_rows, trained);
  }
  EXPECT_EQ(queue.results[2].stopped_because, StopReason::kNoWorkers);
}

TEST_P(Jobs, DivergeAloneAndTellSo) {
  FakeQueue queue = MakeQueue();
  for (FakeOptions& worker : queue.workers) {
    worker.loss = [](const Task& task) {
      return task.job == 2 ? std::numeric_limits<double>::quiet_NaN() : 1.0;
    };
  }
  queue.Run();
  EXPECT_EQ(queue.results[2].stopped_because, StopReason::kDiverged);
  EXPECT_THAT(queue.recorder.job_warnings, SizeIs(3));
  EXPECT_THAT(queue.recorder.job_warnings, Each(Pair(2, HasSubstr("training diverged"))));
  for (const std::size_t job : {0u, 1u, 3u, 4u, 5u}) {
    EXPECT_EQ(queue.results[job].stopped_because, StopReason::kEpochs);
    EXPECT_EQ(queue.results[job].rate_factor, 1);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Jobs, testing::ValuesIn(SchedulerNames()),
                         [](const auto& tested) { return tested.param; });

// Drives a coordinator by hand: every task takes 10 ms.
class ByHand {
 public:
  explicit ByHand(int workers, bool stays_open = false)
      : scheduler_(MakeScheduler("fifo")),
        coordinator_(*scheduler_, {.workers = Devices(workers), .stays_open = stays_open}) {}

  Coordinator& coordinator() { return coordinator_; }

  void Send(const Event& event) {
    const Coordinator::Actions& actions = coordinator_.Handle(event, now_);
    tasks_.insert(tasks_.end(), actions.tasks.begin(), actions.tasks.end());
    for (const JobId job : actions.ended) ended.push_back(job);
  }
  // Finishes the oldest task.
  void Step() {
    ASSERT_FALSE(tasks_.empty());
    const Task task = tasks_.front();
    tasks_.erase(tasks_.begin());
    done.push_back(task);
    now_ += 0.01;
    Send(Report{.task = task.id,
                .worker = task.worker,
                .updates = task.merges * task.updates_per_merge,
                .merges = 1,
                .evaluation = {.rows = task.rows.size(), .loss = 1},
                .seconds = 0.01});
  }
  void Steps(int count) {
    for (int i = 0; i < count && !tasks_.empty(); ++i) Step();
  }
  const std::vector<Task>& tasks() const { return tasks_; }

  std::vector<Task> done;
  std::vector<JobId> ended;

 private:
  static std::vector<DeviceInfo> Devices(int workers) {
    std::vector<DeviceInfo> devices;
    for (int i = 0; i < workers; ++i) devices.push_back({.name = "cpu." + std::to_string(i)});
    return devices;
  }

  std::unique_ptr<Scheduler> scheduler_;
  Coordinator coordinator_;
  std::vector<Task> tasks_;
  double now_ = 5;
};

TEST(ByHandJobs, ArriveBetweenEvents) {
  ByHand hand(2);
  hand.coordinator().Add(FakeQueue::SetupOf({.rows = 1000}));
  hand.Send(Tick{});
  hand.Steps(3);
  const JobId late = hand.coordinator().Add(FakeQueue::SetupOf({.rows = 500, .valid_rows = 10}));
  EXPECT_NEAR(hand.coordinator().job(late).arrived_at(), 0.03, 1e-9);
  hand.Steps(1000);
  EXPECT_TRUE(hand.coordinator().done());
  EXPECT_THAT(hand.ended, ElementsAre(0, 1));
  EXPECT_EQ(hand.coordinator().job(late).Result().totals.examples, 500);
}

TEST(ByHandJobs, StayOpenUntilInterrupted) {
  ByHand hand(1, true);
  hand.Send(Tick{});
  EXPECT_FALSE(hand.coordinator().done());
  hand.coordinator().Add(FakeQueue::SetupOf({.rows = 100}));
  hand.Send(Tick{});
  hand.Steps(1000);
  EXPECT_THAT(hand.ended, ElementsAre(0));
  EXPECT_FALSE(hand.coordinator().done());
  hand.Send(Interrupt{});
  EXPECT_TRUE(hand.coordinator().done());
}

TEST(ByHandJobs, AreInterruptedOneByOne) {
  ByHand hand(1);
  hand.coordinator().Add(FakeQueue::SetupOf({.rows = 5000, .valid_rows = 10}));
  hand.coordinator().Add(FakeQueue::SetupOf({.rows = 500}));
  hand.coordinator().Add(FakeQueue::SetupOf({.rows = 500}));
  hand.Send(Tick{});
  hand.Steps(5);
  hand.Send(Interrupt{.job = 0});
  hand.Send(Interrupt{.job = 2});
  EXPECT_THAT(hand.ended, ElementsAre(2)) << "it had not begun";
  hand.Steps(1000);
  EXPECT_THAT(hand.ended, ElementsAre(2, 0, 1));
  const auto reason = [&](JobId job) { return hand.coordinator().job(job).reason(); };
  EXPECT_EQ(reason(0), StopReason::kInterrupted);
  EXPECT_EQ(reason(1), StopReason::kEpochs);
  EXPECT_EQ(reason(2), StopReason::kInterrupted);
  EXPECT_TRUE(hand.coordinator().job(0).saved_snapshot());
}

TEST(ByHandJobs, AreCheckpointedOneByOneWhileOthersTrain) {
  ByHand hand(2);
  hand.coordinator().Add(FakeQueue::SetupOf({.rows = 5000, .most_workers = 1}));
  hand.coordinator().Add(FakeQueue::SetupOf({.rows = 5000}));
  hand.Send(Tick{});
  hand.Steps(6);
  hand.Send(CheckpointRequest{.job = 0});
  std::vector<JobId> ready;
  bool trained_meanwhile = false;
  for (int i = 0; i < 20 && ready.empty(); ++i) {
    hand.Step();
    ready = hand.coordinator().ready_checkpoints();
    trained_meanwhile |= hand.tasks().back().kind == TaskKind::kTrain;
  }
  EXPECT_THAT(ready, ElementsAre(0));
  EXPECT_TRUE(trained_meanwhile);
  EXPECT_FALSE(hand.coordinator().checkpoint_pending());
  hand.Steps(1000);
  EXPECT_THAT(hand.ended, UnorderedElementsAre(0, 1));
}

TEST(ByHandJobs, WithoutADeviceEndAtOnce) {
  ByHand hand(1);
  hand.coordinator().Add(FakeQueue::SetupOf({.rows = 100, .kind = DeviceKind::kCuda}));
  hand.coordinator().Add(FakeQueue::SetupOf({.rows = 100}));
  hand.Send(Tick{});
  EXPECT_THAT(hand.ended, ElementsAre(0));
  EXPECT_EQ(hand.coordinator().job(0).reason(), StopReason::kNoWorkers);
  hand.Steps(1000);
  EXPECT_EQ(hand.coordinator().job(1).reason(), StopReason::kEpochs);
}

// Every worker that had a task of a job is told that it ends.
TEST(ByHandJobs, LeaveTheirWorkers) {
  ByHand hand(3);
  hand.coordinator().Add(FakeQueue::SetupOf({.rows = 3000, .valid_rows = 10}));
  hand.coordinator().Add(FakeQueue::SetupOf({.rows = 3000, .most_workers = 1}));
  hand.Send(Tick{});
  hand.Steps(10000);
  EXPECT_TRUE(hand.coordinator().done());
  std::map<JobId, std::set<WorkerId>> served, released;
  for (const Task& task : hand.done) {
    (task.kind == TaskKind::kRelease ? released : served)[task.job].insert(task.worker);
  }
  EXPECT_EQ(served[0], released[0]);
  EXPECT_EQ(served[1], released[1]);
}

// Of three jobs that take half of a device's memory each, and one that takes all of it.
TEST(DeviceMemory, IsSharedByTheJobsThatFit) {
  const auto scheduler = MakeScheduler("las", {.short_seconds = 0.01});
  Coordinator coordinator(*scheduler, {.workers = {{.name = "cuda.0",
                                                    .kind = DeviceKind::kCuda,
                                                    .depth = 2,
                                                    .shares_host_memory = false,
                                                    .memory_bytes = 1000}}});
  for (const std::int64_t bytes : {500, 500, 500, 1000}) {
    JobSetup setup = FakeQueue::SetupOf({.rows = 2000});
    setup.device_bytes = IndexedVector<WorkerId, std::int64_t>(std::vector{bytes});
    coordinator.Add(setup);
  }
  std::vector<Task> begun;
  TrainedRows trained;
  QueueRecorder recorder;
  MakeVirtualExecutor(
      {[&] { return std::make_unique<QueueWorker>(0, begun, trained, FakeOptions{}); }},
      std::vector<CostModel>{{.seconds_per_row = 1e-4}})
      ->Run(coordinator, recorder);
  std::set<JobId> there;
  for (const Task& task : begun) {
    if (task.kind == TaskKind::kRelease) {
      there.erase(task.job);
    } else {
      there.insert(task.job);
    }
    EXPECT_LE(there.size(), 2u);
    EXPECT_TRUE(there.size() < 2 || !there.contains(3));
  }
  EXPECT_THAT(recorder.ended, SizeIs(4));
  EXPECT_THAT(recorder.job_warnings,
              UnorderedElementsAre(Pair(2, HasSubstr("it waits for memory on cuda.0")),
                                   Pair(3, HasSubstr("it waits for memory on cuda"))));
}

// At most one synchronous job at a time, and no other job in the middle of a round.
TEST(SynchronousJobs, HaveAllWorkersInEachRound) {
  for (const std::string& scheduler : SchedulerNames()) {
    FakeQueue queue{.scheduler = scheduler,
                    .options = {.short_seconds = 0.05},
                    .jobs = {{.rows = 2000},
                             {.rows = 2000, .algorithm = "sync"},
                             {.rows = 2000, .algorithm = "sync"},
                             {.rows = 2000, .arrives = 0.1}}};
    queue.workers.resize(4);
    queue.Run();
    queue.ExpectAllTrained();
    std::map<std::pair<JobId, std::int64_t>, std::set<WorkerId>> rounds;
    for (const Task& task : queue.begun) {
      if (task.hold) rounds[{task.job, task.round}].insert(task.worker);
    }
    int short_rounds = 0;
    for (const auto& [round, workers] : rounds) short_rounds += workers.size() < 4;
    EXPECT_LE(short_rounds, 2) << scheduler << ": only the last round of a job may lack rows";
  }
}

}  // namespace
}  // namespace hogbatch
