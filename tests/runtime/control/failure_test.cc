// Workers that fail, or are slow, stopped or silent for good: no row is lost and the run goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "tests/runtime/fakes.h"

namespace hogbatch {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

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

// 1e-4 s a row, and `change` of that from 0.3 s on.
UpdateCost Changing(std::function<double(double seconds)> change) {
  return [change](std::int64_t rows, double now) {
    const double usual = 1e-4 * static_cast<double>(rows);
    return now < 0.3 ? usual : change(usual);
  };
}

class Silence : public testing::TestWithParam<const char*> {
 protected:
  FakeRun WithChange(const std::function<double(double)>& change) const {
    FakeRun run{.algorithm = GetParam(), .rows = {.train = 10000, .valid = 100, .test = 0}};
    run.costs.resize(3, {.seconds_per_row = 1e-4});
    run.workers.resize(3);
    run.workers[1].cost = Changing(change);
    return run;
  }
};

TEST_P(Silence, ForGoodIsToldAndTheOthersGoOn) {
  FakeRun run = WithChange([](double) { return 1e9; });
  const RunResult result = run.Run();
  EXPECT_EQ(result.stopped_because, StopReason::kEpochs);
  EXPECT_THAT(run.recorder.failures,
              ElementsAre(AnyOf("cpu.1: it has not answered for 120 s and is given up",
                                "cpu.1: it has not answered for 1200 s and is given up")));
  // Only the rows of its one task are not trained as often as the others.
  EXPECT_EQ(result.totals.examples + result.totals.lost_rows, 20000);
  EXPECT_GT(result.totals.lost_rows, 0);
  EXPECT_LT(result.totals.lost_rows, 2000);
}

TEST_P(Silence, OfASlowWorkerIsForgiven) {
  for (const double times : {10.0, 90.0}) {
    FakeRun run = WithChange([times](double seconds) { return times * seconds; });
    EXPECT_EQ(run.Run().stopped_because, StopReason::kEpochs);
    EXPECT_THAT(run.recorder.failures, IsEmpty());
    run.ExpectEveryRowTrained(2);
  }
}

TEST_P(Silence, OfAMinuteIsForgiven) {
  bool stopped = false;
  FakeRun run = WithChange(
      [&stopped](double seconds) { return std::exchange(stopped, true) ? seconds : 60; });
  EXPECT_EQ(run.Run().stopped_because, StopReason::kEpochs);
  EXPECT_THAT(run.recorder.failures, IsEmpty());
  run.ExpectEveryRowTrained(2);
}

TEST_P(Silence, OfFiftyWorkersLeavesTheRowsToTheLast) {
  FakeRun run{.algorithm = GetParam(), .rows = {.train = 20000, .valid = 100, .test = 0}};
  run.costs.resize(51, {.seconds_per_row = 1e-4});
  run.workers.resize(51);
  for (int i = 0; i < 50; ++i) run.workers[static_cast<std::size_t>(i)].fail_call = 1 + i / 4;
  const RunResult result = run.Run();
  EXPECT_EQ(result.stopped_because, StopReason::kEpochs);
  EXPECT_THAT(run.recorder.failures, SizeIs(50));
  run.ExpectEveryRowTrained(2);
}

INSTANTIATE_TEST_SUITE_P(All, Silence, testing::Values("hogbatch", "adaptive", "sync"),
                         [](const auto& tested) { return std::string(tested.param); });

Coordinator TwoWorkers(double silence_seconds = 0.02) {
  const DeviceInfo info{.name = "cpu", .description = "fake", .shares_host_memory = true};
  return {{.job = {.id = 0, .model = {}, .train_rows = 5000},
           .rows = {.train = 5000, .valid = 0, .test = 0},
           .rules = {.epochs = 1, .target_loss = {}},
           .rates = LearningRate({}, 1),
           .algorithm = MakeAlgorithm("hogbatch", {})},
          {info, info},
          silence_seconds};
}

TEST(SilentWorkers, OfAStoppedProcessAreForgiven) {
  Coordinator coordinator = TwoWorkers();
  EXPECT_THAT(coordinator.Handle(Tick{}, 0).tasks, SizeIs(2));
  EXPECT_THAT(coordinator.Handle(ProcessContinued{}, 1000).failures, IsEmpty());
  EXPECT_THAT(coordinator.Handle(Tick{}, 1000.1).failures, IsEmpty());
  EXPECT_THAT(coordinator.Handle(Tick{}, 1000.3).failures, SizeIs(2));
}

// A run of two workers on threads, of which the second hangs. What its thread uses is never freed.
class HangingRun : public Recorder {
 public:
  static HangingRun& New() { return *new HangingRun; }

  void Run() {
    Coordinator coordinator = TwoWorkers(silence_seconds);
    executor_ = MakeThreadExecutor(
        {[this] { return std::make_unique<FakeWorker>(0, ledgers_[0], FakeOptions{}); },
         [this] { return std::make_unique<HangingWorker>(ledgers_[1], *this); }},
        Pinning::kNone, [this] { return stops; });
    executor_->Run(coordinator, *this);
    reason = coordinator.Result().stopped_because;
  }
  void OnPreparation(std::string_view worker, double) override {
    EXPECT_EQ(worker, "cpu");
    if (throws) throw Error("injected");
  }
  // After the run: it wakes up, and finds all it uses still there.
  void Wake() {
    EXPECT_TRUE(executor_->has_hanging_worker());
    may_wake_ = true;
    may_wake_.notify_all();
  }

  double silence_seconds = 0.1;
  bool prepares = true;
  bool stops = false;
  bool throws = false;
  StopReason reason = StopReason::kNone;

 private:
  class HangingWorker : public FakeWorker {
   public:
    HangingWorker(Ledger& ledger, HangingRun& run) : FakeWorker(1, ledger, {}), run_(run) {}
    void Prepare() override {
      if (run_.prepares) Hang();
    }
    void Compute(const Task&, int) override { Hang(); }

   private:
    void Hang() {
      while (!run_.may_wake_) run_.may_wake_.wait(false);
    }
    HangingRun& run_;
  };

  std::array<Ledger, 2> ledgers_;
  std::atomic<bool> may_wake_ = false;
  std::unique_ptr<Executor> executor_;
};

TEST(SilentWorkers, KeepTheMemoryTheyUse) {
  static HangingRun& run = HangingRun::New();
  run.prepares = false;
  run.Run();
  EXPECT_EQ(run.reason, StopReason::kEpochs);
  EXPECT_THAT(run.failures, SizeIs(1));
  run.Wake();
}

TEST(SilentWorkers, BeforeTheyAreReadyAreGivenUp) {
  static HangingRun& run = HangingRun::New();
  run.silence_seconds = 0.4;
  run.Run();
  EXPECT_EQ(run.reason, StopReason::kEpochs);
  EXPECT_THAT(run.failures, ElementsAre("cpu: it did not get ready in time and is given up"));
  run.Wake();
}

TEST(SilentWorkers, DoNotHoldUpARunThatIsToStop) {
  static HangingRun& run = HangingRun::New();
  run.silence_seconds = 1e6;
  run.stops = true;
  run.Run();
  EXPECT_EQ(run.reason, StopReason::kInterrupted);
  run.Wake();
}

TEST(SilentWorkers, DoNotHoldUpAnErrorOfTheRun) {
  static HangingRun& run = HangingRun::New();
  run.silence_seconds = 1;
  run.throws = true;
  EXPECT_THROW(run.Run(), Error);
  run.Wake();
}

}  // namespace
}  // namespace hogbatch
