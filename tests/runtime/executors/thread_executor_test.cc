// Real threads and mailboxes.
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <stop_token>
#include <thread>

#include "runtime/executors/pinning.h"
#include "tests/runtime/small_problem.h"

namespace hogbatch {
namespace {

TEST(ThreadExecutor, TrainsOneModelOnSeveralThreads) {
  for (const Storage storage : {Storage::kDense, Storage::kSparse}) {
    SmallRun run{.storage = storage, .seconds_per_row = {0, 0, 0, 0}};
    run.rules.epochs = 20;
    run.OnThreads();
    EXPECT_EQ(run.result.stopped_because, StopReason::kEpochs);
    EXPECT_EQ(run.result.totals.examples, 40000);
    const EvaluationSums& valid = *run.result.saved->valid;
    EXPECT_GT(valid.correct, valid.rows * 85 / 100);
  }
}

TEST(ThreadExecutor, SurvivesAFailingWorker) {
  SmallRun run{.fail_call = 50};
  run.OnThreads();
  EXPECT_EQ(run.result.totals.examples, 6000);
  ASSERT_EQ(run.recorder.failures.size(), 1u);
  EXPECT_NE(run.recorder.failures[0].find("cpu.1"), std::string::npos);
}

TEST(ThreadExecutor, EndsWhenEveryWorkerFails) {
  SmallRun run{.seconds_per_row = {0}, .fail_call = 50};
  run.OnThreads();
  EXPECT_EQ(run.result.stopped_because, StopReason::kNoWorkers);
}

// Where the calling thread may run.
cpu_set_t PlacesOfThisThread() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
  return set;
}

TEST(ThreadExecutor, KeepsFeedingThreadsOffTheCoresThatTrain) {
  Coordinator coordinator({.job = {.id = 0, .model = {}, .train_rows = 100},
                           .rows = {.train = 100, .valid = 10, .test = 0},
                           .rules = Rules(1),
                           .rates = LearningRate({}, 1),
                           .algorithm = MakeAlgorithm("hogbatch", {})},
                          {{.name = "gpu", .shares_host_memory = false}, {.name = "cpu.0"}});
  Ledger ledgers[2];
  cpu_set_t feeding, training;
  const std::vector<WorkerFactory> factories = {
      [&] {
        feeding = PlacesOfThisThread();
        return std::make_unique<FakeWorker>(0, ledgers[0], FakeOptions{});
      },
      [&] {
        training = PlacesOfThisThread();
        return std::make_unique<FakeWorker>(1, ledgers[1], FakeOptions{});
      }};
  Recorder recorder;
  MakeThreadExecutor(factories, Pinning::kCores)->Run(coordinator, recorder);
  const cpu_set_t all = PlacesOfThisThread();
  if (Cores().count() == 1) {  // there is no other
    EXPECT_TRUE(CPU_EQUAL(&feeding, &all));
    return;
  }
  cpu_set_t both, either;
  CPU_AND(&both, &feeding, &training);
  CPU_OR(&either, &feeding, &training);
  EXPECT_EQ(CPU_COUNT(&both), 0);
  EXPECT_TRUE(CPU_EQUAL(&either, &all));
}

// A run of two workers. The second one takes as long to prepare as a test wants.
class LateRun : public Recorder {
 public:
  std::function<void()> prepare;
  std::atomic<bool> stop = false;
  std::atomic<int> asked_to_wait = 0;
  std::atomic<bool> begun = false;  // by the first worker
  std::string waited_for;

  StopReason Run() {
    Coordinator coordinator({.job = {.id = 0, .model = {}, .train_rows = 100},
                             .rows = {.train = 100, .valid = 10, .test = 0},
                             .rules = Rules(1),
                             .rates = LearningRate({}, 1),
                             .algorithm = MakeAlgorithm("hogbatch", {})},
                            {{.name = "cpu.0"}, {.name = "cpu.1"}});
    Ledger ledgers[2];
    FakeOptions options;
    options.evaluate = [&](const Task& task) {
      begun = true;
      return FakeOptions().evaluate(task);
    };
    const std::vector<WorkerFactory> factories = {
        [&] { return std::make_unique<FakeWorker>(0, ledgers[0], options); },
        [&] { return std::make_unique<LateWorker>(ledgers[1], prepare); }};
    MakeThreadExecutor(factories, Pinning::kNone, [this] {
      return stop.load();
    })->Run(coordinator, *this);
    return coordinator.Result().stopped_because;
  }

  void OnPreparation(std::string_view worker, double seconds) override {
    waited_for = worker;
    EXPECT_GT(seconds, 0);
    ++asked_to_wait;
  }

  // False after ten seconds.
  static bool Await(const std::function<bool()>& done) {
    for (int i = 0; i < 10000 && !done(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return done();
  }

 private:
  class LateWorker : public FakeWorker {
   public:
    LateWorker(Ledger& ledger, const std::function<void()>& prepare)
        : FakeWorker(1, ledger, {}), prepare_(prepare) {}
    void Prepare() override { prepare_(); }

   private:
    const std::function<void()>& prepare_;
  };
};

TEST(ThreadExecutor, BeginsWhenEveryWorkerIsReady) {
  LateRun run;
  run.prepare = [&] {
    EXPECT_TRUE(LateRun::Await([&] { return run.asked_to_wait >= 3; }));
    EXPECT_FALSE(run.begun);
  };
  EXPECT_EQ(run.Run(), StopReason::kEpochs);
  EXPECT_EQ(run.waited_for, "cpu.1");
  EXPECT_TRUE(run.begun);
}

TEST(ThreadExecutor, GoesOnWithoutAWorkerThatFailsBeforeItIsReady) {
  LateRun run;
  run.prepare = [] { throw DeviceError("injected"); };
  EXPECT_EQ(run.Run(), StopReason::kEpochs);
  EXPECT_EQ(run.failures, std::vector<std::string>{"cpu.1: injected"});
}

TEST(ThreadExecutor, DoesNotWaitForWorkersWhenAskedToStop) {
  LateRun run;
  run.prepare = [&] {
    run.stop = true;
    EXPECT_TRUE(LateRun::Await([&] { return run.begun.load(); }));
  };
  EXPECT_EQ(run.Run(), StopReason::kInterrupted);
}

TEST(ThreadExecutor, StopsWhenAnotherThreadAsks) {
  Coordinator coordinator({.job = {.id = 0, .model = {}, .train_rows = 100000},
                           .rows = {.train = 100000, .valid = 100, .test = 0},
                           .rules = Rules(1e6),
                           .rates = LearningRate({}, 1e6),
                           .algorithm = MakeAlgorithm("hogbatch", {})},
                          {{.name = "cpu.0", .description = "fake"}});
  Ledger ledger;
  std::stop_source stop;
  FakeOptions options;
  options.loss = [&](const Task& task) {
    if (task.id > 200) stop.request_stop();
    return 1.0;
  };
  Recorder recorder;
  const WorkerFactory make = [&] { return std::make_unique<FakeWorker>(0, ledger, options); };
  MakeThreadExecutor({make}, Pinning::kCores, [token = stop.get_token()] {
    return token.stop_requested();
  })->Run(coordinator, recorder);
  EXPECT_EQ(coordinator.Result().stopped_because, StopReason::kInterrupted);
  EXPECT_TRUE(coordinator.saved_snapshot());
}

}  // namespace
}  // namespace hogbatch
