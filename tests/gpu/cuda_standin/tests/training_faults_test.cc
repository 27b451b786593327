// Training on two GPUs and a core while the GPUs fail: each call fails once, and each request for
// memory finds none once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cpu/cpu.h"
#include "tests/gpu/cuda_standin/standin.h"
#include "tests/gpu/cuda_standin/tests/small_work.h"
#include "tests/runtime/ledger/ledger_run.h"

namespace hogbatch::standin {
namespace {

using testing::Each;
using testing::IsEmpty;
using testing::MatchesRegex;

struct Training {
  std::string algorithm = "hogbatch";
  Storage storage = Storage::kDense;
  std::int64_t merge_rows = 1;
};

struct Outcome {
  std::vector<std::string> failures;
  int cut_batches = 0;  // reports of batches that memory was too short for
  std::int64_t calls = 0;
  std::int64_t memory_requests = 0;
};

// Counts the reports of a worker that met the end of its memory.
class Counted : public Worker {
 public:
  Counted(std::unique_ptr<Worker> worker, std::atomic<int>& cut)
      : worker_(std::move(worker)), cut_(cut) {}
  void Compute(const Task& task, int merge) override { worker_->Compute(task, merge); }
  void Commit(const Task& task, int merge) override { worker_->Commit(task, merge); }
  bool merge_is_torn() const override { return worker_->merge_is_torn(); }
  Report Finish(const Task& task) override {
    const Report report = worker_->Finish(task);
    if (report.max_batch_size > 0) ++cut_;
    return report;
  }

 private:
  std::unique_ptr<Worker> worker_;
  std::atomic<int>& cut_;
};

LedgerRun::WorkerSetup CoreSetup() {
  const DeviceInfo info{.name = "cpu.0", .description = "test"};
  return {.info = info, .make = [info] { return cpu::MakeDevice(info); }};
}

LedgerRun::WorkerSetup GpuSetup(std::size_t number, std::atomic<int>& cut) {
  return {.info = {.name = "cuda." + std::to_string(number),
                   .description = "stand-in",
                   .kind = DeviceKind::kCuda,
                   .depth = 2,
                   .shares_host_memory = false},
          .make = [number] { return MakeDevice(number); },
          .decorate = [&cut](std::unique_ptr<Worker> worker) -> std::unique_ptr<Worker> {
            return std::make_unique<Counted>(std::move(worker), cut);
          }};
}

class TrainingFaults : public testing::Test {
 protected:
  ~TrainingFaults() override { Restart(Settings::FromEnvironment()); }

  // All rows are trained or counted as lost by those workers that are left, and nothing is left
  // behind on the GPUs.
  static Outcome Train(const Training& training, const Settings& settings) {
    Restart(settings);
    std::atomic<int> cut = 0;
    LedgerRun run{.algorithm = training.algorithm,
                  .storage = training.storage,
                  .train_rows = training.merge_rows > 1 ? 48 : 8,
                  .merge_rows = training.merge_rows,
                  .workers = {CoreSetup(), GpuSetup(0, cut), GpuSetup(1, cut)}};
    run.OnThreads();
    run.ExpectBalanced();
    EXPECT_EQ(run.result.stopped_because, StopReason::kEpochs);
    EXPECT_TRUE(run.result.saved) << "nobody measured the model";
    EXPECT_THAT(run.recorder.failures,
                Each(MatchesRegex("cuda\\.[01]: (cuda\\.[01]|CUDA).* failed: .*")));
    const Outcome outcome{run.recorder.failures, cut, CallsMade(), MemoryRequestsMade()};
    EXPECT_THAT(TakeViolations(), IsEmpty());
    return outcome;
  }
};

TEST_F(TrainingFaults, AreNoneWhereNothingFails) {
  for (const std::string& algorithm : AlgorithmNames()) {
    for (const Storage storage : {Storage::kDense, Storage::kSparse}) {
      const Outcome outcome = Train({algorithm, storage}, {});
      EXPECT_THAT(outcome.failures, IsEmpty());
      EXPECT_EQ(outcome.cut_batches, 0);
    }
  }
}

TEST_F(TrainingFaults, OfAnyCallLetTheOthersGoOn) {
  // How many calls there are is a matter of timing: who gets how many rows.
  const std::int64_t calls = Train({}, {}).calls;
  EXPECT_GT(calls, 300);
  int with_failures = 0, in_the_middle = 0;
  for (std::int64_t call = 1; call <= calls; call += HOGBATCH_EVERY) {
    SCOPED_TRACE("call " + std::to_string(call));
    const Outcome outcome = Train({}, {.fail_at = call});
    if (HasFailure()) return;
    with_failures += outcome.failures.empty() ? 0 : 1;
    in_the_middle += outcome.failures.size() == 1 && outcome.calls > call ? 1 : 0;
  }
  EXPECT_GT(with_failures, calls / HOGBATCH_EVERY / 3);
  EXPECT_GT(in_the_middle, calls / HOGBATCH_EVERY / 4);
}

TEST_F(TrainingFaults, OfAnyCallAreSurvivedByEveryAlgorithm) {
  for (const Training& training :
       {Training{"hogbatch", Storage::kSparse}, Training{"adaptive", Storage::kSparse},
        Training{"adaptive", Storage::kDense, 4}, Training{"adaptive", Storage::kSparse, 4},
        Training{"sync", Storage::kDense}, Training{"sync", Storage::kSparse}}) {
    const std::int64_t calls = Train(training, {}).calls;
    for (std::int64_t call = 1; call <= calls; call += 17 * HOGBATCH_EVERY) {
      SCOPED_TRACE(training.algorithm + " call " + std::to_string(call));
      Train(training, {.fail_at = call});
      if (HasFailure()) return;
    }
  }
}

// The device asks a second time when it has given back what it kept, and the worker with fewer
// rows.
TEST_F(TrainingFaults, OfMemoryCutTheBatchOrEndTheWorker) {
  int went_on = 0, with_cut_batches = 0, with_failures = 0;
  for (const Storage storage : {Storage::kDense, Storage::kSparse}) {
    const std::int64_t requests = Train({.storage = storage}, {}).memory_requests;
    EXPECT_GT(requests, 30);
    for (std::int64_t request = 1; request <= requests; ++request) {
      for (const std::int64_t in_a_row : {1, 3}) {
        SCOPED_TRACE("request " + std::to_string(request));
        const Outcome outcome =
            Train({.storage = storage}, {.full_at = request, .full_for = in_a_row});
        if (HasFailure()) return;
        with_cut_batches += outcome.cut_batches > 0 ? 1 : 0;
        (outcome.failures.empty() ? went_on : with_failures) += 1;
      }
    }
  }
  EXPECT_GT(with_cut_batches, 0);
  EXPECT_GT(went_on, 0);
  EXPECT_GT(with_failures, 0);
}

}  // namespace
}  // namespace hogbatch::standin
