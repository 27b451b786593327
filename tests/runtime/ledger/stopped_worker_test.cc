// Workers that stop or slow down. The others do not wait for them; only the end of the run does.
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "cpu/cpu.h"
#include "tests/runtime/ledger/ledger_run.h"
#include "tests/support/strict_device.h"

namespace hogbatch {
namespace {

constexpr std::int64_t kRows = 400;

// Where a worker stands still until the others have trained all rows but those in its hand.
class Gate {
 public:
  explicit Gate(const RowLedger& ledger) : ledger_(ledger) {}

  void Stop(std::int64_t rows_in_hand) {
    std::unique_lock lock(mutex_);
    if (std::exchange(was_used_, true)) return;
    // So long only if the others wait, too.
    opened_ = progress_.wait_for(lock, std::chrono::seconds(60),
                                 [&] { return ledger_.trained() == kRows - rows_in_hand; });
  }
  // Somebody has trained something.
  void Look() {
    const std::scoped_lock lock(mutex_);
    progress_.notify_all();
  }
  bool opened() const { return opened_; }

 private:
  const RowLedger& ledger_;
  std::mutex mutex_;
  std::condition_variable progress_;
  bool was_used_ = false;
  bool opened_ = false;
};

// Tells the gate of every task that is done.
class Seen : public Worker {
 public:
  Seen(std::unique_ptr<Worker> worker, Gate& gate) : worker_(std::move(worker)), gate_(gate) {}
  void Compute(const Task& task, int merge) override { worker_->Compute(task, merge); }
  void Commit(const Task& task, int merge) override { worker_->Commit(task, merge); }
  Report Finish(const Task& task) override {
    gate_.Look();
    return worker_->Finish(task);
  }

 private:
  std::unique_ptr<Worker> worker_;
  Gate& gate_;
};

// Stops once, when it has as many training tasks as its depth says: the coordinator gives it no
// more, so that it knows which rows are in its hand.
class Stopping : public Worker {
 public:
  Stopping(std::unique_ptr<Worker> worker, int depth, Gate& gate)
      : worker_(std::move(worker)), depth_(depth), gate_(gate) {}
  void Compute(const Task& task, int merge) override {
    if (task.kind == TaskKind::kTrain && merge == 0) {
      // Of a task before it all but its last merge is done.
      if (depth_ == 1) gate_.Stop(task.rows.size());
      if (before_) gate_.Stop(LastPart(*before_).size() + task.rows.size());
      before_ = task;
    }
    worker_->Compute(task, merge);
  }
  void Commit(const Task& task, int merge) override { worker_->Commit(task, merge); }
  Report Finish(const Task& task) override {
    if (before_ && before_->id == task.id) before_.reset();
    return worker_->Finish(task);
  }

 private:
  static RowRange LastPart(const Task& task) {
    return Part(task.rows, task.merges - 1, task.merges);
  }

  std::unique_ptr<Worker> worker_;
  int depth_;
  Gate& gate_;
  std::optional<Task> before_;  // not finished yet
};

LedgerRun::WorkerSetup CoreSetup(const std::string& name) {
  const DeviceInfo info{.name = name, .description = "test"};
  return {.info = info, .make = [info] { return cpu::MakeDevice(info); }};
}

LedgerRun::WorkerSetup DeviceSetup(const std::string& name) {
  const DeviceInfo info{.name = name,
                        .description = "test",
                        .kind = DeviceKind::kCuda,
                        .depth = 2,
                        .shares_host_memory = false};
  return {.info = info, .make = [info] { return MakeStrictDevice(cpu::MakeDevice(info)); }};
}

// The last of the workers stops.
void ExpectOthersToGoOn(const std::string& algorithm, std::vector<LedgerRun::WorkerSetup> workers) {
  SCOPED_TRACE(algorithm + " beside " + workers.back().info.name);
  LedgerRun run{.algorithm = algorithm, .train_rows = kRows, .workers = std::move(workers)};
  Gate gate(run.ledger);
  for (LedgerRun::WorkerSetup& setup : run.workers) {
    setup.decorate = [&](std::unique_ptr<Worker> worker) {
      return std::make_unique<Seen>(std::move(worker), gate);
    };
  }
  run.workers.back().decorate = [&](std::unique_ptr<Worker> worker) {
    return std::make_unique<Stopping>(std::move(worker), run.workers.back().info.depth, gate);
  };
  run.OnThreads();
  EXPECT_TRUE(gate.opened()) << "it did not stop, or the others waited for it";
  run.ExpectBalanced();
  EXPECT_EQ(run.result.stopped_because, StopReason::kEpochs);
  EXPECT_TRUE(run.recorder.failures.empty());
}

TEST(StoppedWorker, DoesNotStopTheOthersOnThreads) {
  for (const std::string algorithm : {"hogbatch", "adaptive"}) {
    ExpectOthersToGoOn(algorithm, {CoreSetup("cpu.0"), CoreSetup("cpu.1")});
    ExpectOthersToGoOn(algorithm, {CoreSetup("cpu.0"), DeviceSetup("cuda.0")});
    ExpectOthersToGoOn(algorithm,
                       {DeviceSetup("cuda.0"), CoreSetup("cpu.0"), DeviceSetup("cuda.1")});
  }
}

// Of workers that are equally fast one becomes ten times slower: the run takes as long as what is
// left of their speed, and a last task of the slow one.
TEST(SlowedWorker, CostsTheRunNoMoreThanItsOwnSpeed) {
  for (const std::string algorithm : {"hogbatch", "adaptive"}) {
    FakeRun run{.algorithm = algorithm, .rows = {.train = 20000, .valid = 0, .test = 0}};
    run.evaluated = SplitRows{};
    const CostModel cost{.seconds_per_row = 1e-4};
    run.costs.assign(3, cost);
    run.workers.resize(3);
    run.workers[2].cost = [&](std::int64_t rows, double now) {
      return Constant(cost)(rows, now) * (now < 0.1 ? 1 : 10);
    };
    const double seconds = run.Run().totals.seconds;
    run.ExpectEveryRowTrained(2);
    const double left = 2 * 20000 - 0.1 * 3 / 1e-4;  // rows, when it slows down
    EXPECT_LT(seconds, 0.1 + left * 1e-4 / 2.1 + 0.25) << algorithm;
  }
}

}  // namespace
}  // namespace hogbatch
