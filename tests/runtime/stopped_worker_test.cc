// Workers that stop or slow down: nobody waits for them but the end of the run.
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "cpu/cpu.h"
#include "tests/runtime/ledger_run.h"
#include "tests/runtime/strict_device.h"

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

// Forwards to a worker, with something to be done before its updates and after its tasks.
class Accompanied : public Worker {
 public:
  using Act = std::function<void(const Task&)>;
  Accompanied(std::unique_ptr<Worker> worker, Act before_update, Act after_task)
      : worker_(std::move(worker)),
        before_update_(std::move(before_update)),
        after_task_(std::move(after_task)) {}

  void Compute(const Task& task, int update) override {
    before_update_(task);
    worker_->Compute(task, update);
  }
  void Commit(const Task& task, int update) override { worker_->Commit(task, update); }
  Report Finish(const Task& task) override {
    after_task_(task);
    return worker_->Finish(task);
  }

 private:
  std::unique_ptr<Worker> worker_;
  Act before_update_;
  Act after_task_;
};

LedgerRun::Seat CoreSeat(const std::string& name) {
  const DeviceInfo info{.name = name, .description = "test"};
  return {.info = info, .make = [info] { return cpu::MakeDevice(info); }};
}

LedgerRun::Seat DeviceSeat(const std::string& name) {
  const DeviceInfo info{.name = name,
                        .description = "test",
                        .kind = DeviceKind::kCuda,
                        .depth = 2,
                        .shares_host_memory = false};
  return {.info = info, .make = [info] { return MakeStrictDevice(cpu::MakeDevice(info)); }};
}

// The last of the workers stops at its first update.
void ExpectOthersToGoOn(const std::string& algorithm, std::vector<LedgerRun::Seat> seats) {
  SCOPED_TRACE(algorithm + " beside " + seats.back().info.name);
  LedgerRun run{.algorithm = algorithm, .train_rows = kRows, .seats = std::move(seats)};
  Gate gate(run.ledger);
  const int depth = run.seats.back().info.depth;
  for (LedgerRun::Seat& seat : run.seats) {
    Accompanied::Act before = [](const Task&) {};
    if (&seat == &run.seats.back()) {
      // It has as many tasks as its depth says, and the first ones are equal.
      before = [&](const Task& task) {
        if (task.kind == TaskKind::kTrain) gate.Stop(depth * task.rows.size());
      };
    }
    seat.decorate = [&gate, before](std::unique_ptr<Worker> worker) {
      return std::make_unique<Accompanied>(std::move(worker), before,
                                           [&gate](const Task&) { gate.Look(); });
    };
  }
  run.OnThreads();
  EXPECT_TRUE(gate.opened()) << "the others waited for it";
  run.ExpectBalanced();
  EXPECT_EQ(run.result.stopped_because, StopReason::kEpochs);
  EXPECT_TRUE(run.recorder.failures.empty());
}

TEST(StoppedWorker, DoesNotStopTheOthersOnThreads) {
  for (const std::string algorithm : {"hogbatch", "adaptive"}) {
    ExpectOthersToGoOn(algorithm, {CoreSeat("cpu.0"), CoreSeat("cpu.1")});
    ExpectOthersToGoOn(algorithm, {CoreSeat("cpu.0"), DeviceSeat("cuda.0")});
    ExpectOthersToGoOn(algorithm, {DeviceSeat("cuda.0"), CoreSeat("cpu.0"), DeviceSeat("cuda.1")});
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
