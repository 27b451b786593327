// Every row of an epoch is trained once or counted as lost, wherever a device fails: each call of a
// short run fails once.
#include <gtest/gtest.h>

#include <string>

#include "cpu/cpu.h"
#include "device/simulated.h"
#include "tests/runtime/ledger/ledger_run.h"
#include "tests/support/strict_device.h"

namespace hogbatch {
namespace {

// Who trains: cores first, then devices that share no memory with the host.
struct Crew {
  int cores = 0;
  int devices = 0;
  int size() const { return cores + devices; }
};

struct Case {
  std::string algorithm = "hogbatch";
  Storage storage = Storage::kDense;
  Crew crew;
  Time time = Time::kVirtual;
  int epochs = 1;
  double momentum = 0;           // 0: on threads, cores write straight into the model
  std::int64_t device_rows = 2;  // in an update
  std::int64_t train_rows = 16;
  std::int64_t merge_rows = 1;
  std::shared_ptr<DeviceUse> use = nullptr;  // of the last device
};

LedgerRun::WorkerSetup MakeWorkerSetup(const Case& c, int worker, std::int64_t fail_call) {
  const bool is_core = worker < c.crew.cores;
  const DeviceInfo info{.name = (is_core ? "cpu." : "cuda.") + std::to_string(worker),
                        .description = "test",
                        .kind = is_core ? DeviceKind::kCpu : DeviceKind::kCuda,
                        .depth = is_core ? 1 : 2,
                        .shares_host_memory = is_core};
  const auto use = worker + 1 == c.crew.size() ? c.use : nullptr;
  const auto make = [=] {
    std::unique_ptr<Device> device = cpu::MakeDevice(info);
    if (!is_core) device = MakeStrictDevice(std::move(device), DeviceKind::kCuda, use);
    return sim::MakeSimulatedDevice(std::move(device), {.fail_call = fail_call});
  };
  return {.info = info, .make = make, .writes_early = is_core && c.momentum == 0};
}

struct Ending {
  bool failed = false;
  std::int64_t lost_rows = 0;
  std::int64_t updates = 0;
};

// The last worker's device fails at the call; 0: none does.
Ending RunWithFailure(const Case& c, std::int64_t call) {
  LedgerRun run{.algorithm = c.algorithm,
                .storage = c.storage,
                .train_rows = c.train_rows,
                .merge_rows = c.merge_rows,
                .epochs = c.epochs};
  run.algorithm_options.gpu_batch = {1, c.device_rows};
  run.optimizer.momentum = c.momentum;
  for (int i = 0; i < c.crew.size(); ++i) {
    run.workers.push_back(MakeWorkerSetup(c, i, i + 1 == c.crew.size() ? call : 0));
  }
  c.time == Time::kVirtual ? run.InVirtualTime() : run.OnThreads();
  run.ExpectBalanced();
  const bool failed = !run.recorder.failures.empty();
  if (failed) {
    EXPECT_EQ(run.recorder.failures.size(), 1u);
    EXPECT_NE(run.recorder.failures[0].find("injected"), std::string::npos)
        << run.recorder.failures[0];
  }
  const bool nobody_left = failed && c.crew.size() == 1;
  EXPECT_EQ(run.result.stopped_because, nobody_left ? StopReason::kNoWorkers : StopReason::kEpochs);
  return {failed, run.result.totals.lost_rows, run.result.totals.updates};
}

struct Totals {
  std::int64_t calls = 0;
  std::int64_t runs_with_lost_rows = 0;
};

// Fails each of the first calls, `most` at most, until a run makes less; those that came to it.
Totals FailEveryCall(const Case& c, std::int64_t most = 10000) {
  Totals totals;
  for (std::int64_t call = 1; call <= most; ++call) {
    SCOPED_TRACE(c.algorithm + " call " + std::to_string(call));
    const Ending ending = RunWithFailure(c, call);
    totals.calls += ending.failed ? 1 : 0;
    totals.runs_with_lost_rows += ending.lost_rows > 0 ? 1 : 0;
    const bool beyond_the_run = !ending.failed && most == 10000;
    if (beyond_the_run || testing::Test::HasFailure()) break;
  }
  return totals;
}

std::vector<Case> Cases(Crew crew, Time time) {
  std::vector<Case> cases;
  for (const std::string& algorithm : AlgorithmNames()) {
    for (const Storage storage : {Storage::kDense, Storage::kSparse}) {
      cases.push_back({.algorithm = algorithm, .storage = storage, .crew = crew, .time = time});
    }
    if (algorithm == "adaptive") cases.back().momentum = 0.5;
  }
  return cases;
}

class BooksOf : public testing::TestWithParam<Crew> {};

INSTANTIATE_TEST_SUITE_P(All, BooksOf,
                         testing::Values(Crew{.cores = 1, .devices = 1}, Crew{.devices = 2},
                                         Crew{.cores = 2}, Crew{.devices = 1}, Crew{.cores = 1}),
                         [](const auto& one) {
                           return std::to_string(one.param.cores) + "Cores" +
                                  std::to_string(one.param.devices) + "Devices";
                         });

TEST_P(BooksOf, BalanceInVirtualTimeWhicheverCallFails) {
  std::int64_t with_lost_rows = 0;
  for (const Case& c : Cases(GetParam(), Time::kVirtual)) {
    const Totals totals = FailEveryCall(c);
    EXPECT_GT(totals.calls, 50);
    with_lost_rows += totals.runs_with_lost_rows;
  }
  EXPECT_GT(with_lost_rows, 0) << "no merge was torn: what happens to its rows is not shown";
}

// Who gets how many rows is a matter of timing, so that some runs end before the call; but every
// worker gets the first tasks.
TEST_P(BooksOf, BalanceOnThreadsWhicheverCallFails) {
  for (const Case& c : Cases(GetParam(), Time::kReal)) {
    const Totals totals = GetParam().size() == 1 ? FailEveryCall(c) : FailEveryCall(c, 120);
    EXPECT_GT(totals.calls, 20);
  }
}

TEST(Books, BalanceOverSeveralEpochs) {
  for (const std::string& algorithm : AlgorithmNames()) {
    const Case c{.algorithm = algorithm, .crew = {.cores = 1, .devices = 1}, .epochs = 3};
    for (std::int64_t call = 1;; call += 17) {
      if (!RunWithFailure(c, call).failed || HasFailure()) break;
    }
  }
}

// Then all rows of a merge are in the model, or none of them.
TEST(Books, BalanceWhicheverCallFailsWhereAReplicaMakesSeveralUpdatesAtOnce) {
  for (const Time time : {Time::kVirtual, Time::kReal}) {
    for (const Storage storage : {Storage::kDense, Storage::kSparse}) {
      const Case c{.storage = storage,
                   .crew = {.devices = 1},
                   .time = time,
                   .device_rows = 1,
                   .train_rows = 32,
                   .merge_rows = 4};
      EXPECT_EQ(RunWithFailure(c, 0).updates, 32);
      const Totals totals = FailEveryCall(c);
      EXPECT_GT(totals.calls, 200);
      EXPECT_GT(totals.runs_with_lost_rows, 0);
    }
  }
}

// So much memory that an update of two rows has room and one of eight has not.
std::shared_ptr<DeviceUse> LittleMemory(Case c) {
  c.use = std::make_shared<DeviceUse>();
  c.device_rows = 2;
  RunWithFailure(c, 0);
  const auto little = std::make_shared<DeviceUse>();
  little->limit_bytes = c.use->peak_bytes;
  return little;
}

// An update is then made in parts, each of which changes the model.
TEST(Books, BalanceWhicheverCallFailsOfADeviceThatIsShortOfMemory) {
  for (const Time time : {Time::kVirtual, Time::kReal}) {
    for (const Storage storage : {Storage::kDense, Storage::kSparse}) {
      Case c{.storage = storage, .crew = {.devices = 1}, .time = time, .device_rows = 8};
      const std::int64_t updates = RunWithFailure(c, 0).updates;
      const std::int64_t limit = LittleMemory(c)->limit_bytes;
      std::int64_t with_lost_rows = 0;
      for (std::int64_t call = 1;; ++call) {
        SCOPED_TRACE("call " + std::to_string(call));
        c.use = std::make_shared<DeviceUse>();
        c.use->limit_bytes = limit;
        const Ending ending = RunWithFailure(c, call);
        with_lost_rows += ending.lost_rows > 0 ? 1 : 0;
        if (ending.failed && !HasFailure()) continue;
        EXPECT_GT(ending.updates, updates) << "no update was made in parts";
        break;
      }
      EXPECT_GT(with_lost_rows, 0);
    }
  }
}

// Throws instead of its n-th report of training.
class FailsToReport : public Worker {
 public:
  FailsToReport(std::unique_ptr<Worker> worker, int report)
      : worker_(std::move(worker)), left_(report) {}
  void Compute(const Task& task, int merge) override { worker_->Compute(task, merge); }
  void Commit(const Task& task, int merge) override { worker_->Commit(task, merge); }
  Report Finish(const Task& task) override {
    if (task.kind == TaskKind::kTrain && --left_ == 0) throw DeviceError("injected");
    return worker_->Finish(task);
  }

 private:
  std::unique_ptr<Worker> worker_;
  int left_;
};

TEST(Books, CountATaskThatIsInTheModelAndCannotBeReported) {
  for (const Time time : {Time::kVirtual, Time::kReal}) {
    for (const Crew crew : {Crew{.devices = 1}, Crew{.cores = 1}}) {
      for (const int report : {1, 2, 3}) {
        LedgerRun run;
        run.workers.push_back(MakeWorkerSetup({.crew = crew, .time = time}, 0, 0));
        run.workers[0].decorate = [&](std::unique_ptr<Worker> worker) {
          return std::make_unique<FailsToReport>(std::move(worker), report);
        };
        time == Time::kVirtual ? run.InVirtualTime() : run.OnThreads();
        run.ExpectBalanced();
        EXPECT_EQ(run.recorder.failures.size(), 1u);
        EXPECT_GT(run.result.totals.examples, 0);
      }
    }
  }
}

// A synchronous step that is all of a run.
struct StepRun : LedgerRun {
  StepRun(Storage kind, double momentum, int worker, std::int64_t call)
      : LedgerRun{.algorithm = "sync", .storage = kind, .train_rows = 4} {
    optimizer.momentum = momentum;
    const Case crew{.crew = {.cores = 2, .devices = 1}};
    for (int i = 0; i < 3; ++i) workers.push_back(MakeWorkerSetup(crew, i, i == worker ? call : 0));
    InVirtualTime();
    ExpectBalanced();
  }
};

// When gradients are held it makes no difference who brings them into the model, and nothing of it
// may be done twice.
void ExpectStepAppliedOnce(Storage storage, double momentum, int worker) {
  const std::vector<float> expected = StepRun(storage, momentum, worker, 0).model;
  int failures_in_the_step = 0;
  for (std::int64_t call = 1;; ++call) {
    SCOPED_TRACE("worker " + std::to_string(worker) + " call " + std::to_string(call));
    const StepRun run(storage, momentum, worker, call);
    if (run.recorder.failures.empty()) break;
    if (run.result.totals.updates > 1) continue;  // its rows had to wait for another step
    ++failures_in_the_step;
    ASSERT_EQ(run.model, expected);
  }
  EXPECT_GT(failures_in_the_step, 5);
}

TEST(SynchronousStep, IsAppliedOnceWhicheverCallFailsOnTheWay) {
  for (const Storage storage : {Storage::kDense, Storage::kSparse}) {
    for (const double momentum : {0.0, 0.5}) {
      for (int worker = 0; worker < 3; ++worker) ExpectStepAppliedOnce(storage, momentum, worker);
    }
  }
}

}  // namespace
}  // namespace hogbatch
