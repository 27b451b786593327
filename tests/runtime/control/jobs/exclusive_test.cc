// An exclusive job ends with the same bits whatever runs beside it, and whichever worker of one
// kind takes it.
#include <gtest/gtest.h>

#include <set>

#include "core/random.h"
#include "tests/runtime/control/jobs/queue_run.h"

namespace hogbatch {
namespace {

struct ExclusiveCase {
  std::string name;
  OptimizerOptions optimizer;
  Storage storage = Storage::kDense;
  DeviceKind kind = DeviceKind::kCpu;
};

class Exclusive : public testing::TestWithParam<ExclusiveCase> {
 protected:
  RealJob Job() const {
    const ExclusiveCase& setup = GetParam();
    return {.rows = 1500,
            .hidden = {12, 9},
            .optimizer = setup.optimizer,
            .exclusive = true,
            .kind = setup.kind,
            .storage = setup.storage,
            .lr = setup.optimizer.optimizer == "adam" ? 0.002 : 0.05};
  }

  QueueRun Alone() const {
    QueueRun run{.jobs = {Job()}, .cores = 1, .distant = 1};
    run.Run();
    return run;
  }

  // The job is the `place`-th of several, and the others are different each time.
  QueueRun InCompany(std::uint64_t seed, Time time) const {
    Random random(seed);
    QueueRun run{.time = time, .cores = 2, .distant = 2};
    run.scheduler = SchedulerNames()[static_cast<std::size_t>(random.Below(3))];
    const std::int64_t before = random.Below(3), after = 1 + random.Below(3);
    for (std::int64_t i = 0; i < before + 1 + after; ++i) {
      if (i == before) {
        run.jobs.push_back(Job());
        continue;
      }
      run.jobs.push_back({.rows = 200 + random.Below(800),
                          .epochs = 1 + static_cast<double>(random.Below(2)),
                          .hidden = {4 + random.Below(30)},
                          .exclusive = random.Below(2) == 0,
                          .arrives = 0.01 * static_cast<double>(random.Below(5)),
                          .seed = seed + static_cast<std::uint64_t>(i)});
    }
    for (int i = 0; i < 4; ++i) {
      run.seconds_per_row.push_back(1e-5 * static_cast<double>(1 + random.Below(20)));
    }
    run.Run();
    place_ = static_cast<std::size_t>(before);
    return run;
  }

  static void ExpectSame(const QueueRun& alone, const QueueRun& beside, std::size_t place) {
    EXPECT_EQ(beside.results[place].stopped_because, StopReason::kEpochs);
    EXPECT_EQ(beside.models[place], alone.models[0]);
    EXPECT_EQ(beside.snapshots[place], alone.snapshots[0]);
    EXPECT_EQ(beside.results[place].saved->epoch, alone.results[0].saved->epoch);
    EXPECT_EQ(beside.results[place].saved->valid->loss, alone.results[0].saved->valid->loss);
    EXPECT_EQ(beside.results[place].totals.updates, alone.results[0].totals.updates);
  }

  mutable std::size_t place_ = 0;
};

TEST_P(Exclusive, EndsWithTheSameBitsInAnyCompany) {
  const QueueRun alone = Alone();
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    const QueueRun run = InCompany(seed, Time::kVirtual);
    ExpectSame(alone, run, place_);
  }
}

// A model that is written as it is computed has other bits than one that is written at the end of
// an update in virtual time.
TEST_P(Exclusive, EndsWithTheSameBitsOnThreads) {
  QueueRun alone{.time = Time::kReal, .jobs = {Job()}, .cores = 1, .distant = 1};
  alone.Run();
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    const QueueRun run = InCompany(seed, Time::kReal);
    ExpectSame(alone, run, place_);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Exclusive,
    testing::Values(ExclusiveCase{"Sgd", {}}, ExclusiveCase{"Momentum", {.momentum = 0.9}},
                    ExclusiveCase{"Adam", {.optimizer = "adam"}},
                    ExclusiveCase{"SparseAdam", {.optimizer = "adam"}, Storage::kSparse},
                    ExclusiveCase{
                        "GpuMomentum", {.momentum = 0.9}, Storage::kDense, DeviceKind::kCuda},
                    ExclusiveCase{"GpuSgd", {}, Storage::kDense, DeviceKind::kCuda}),
    [](const auto& tested) { return tested.param.name; });

TEST(ExclusiveJobs, HaveOneWorkerAtATimeAndMove) {
  FakeQueue queue{.scheduler = "las", .options = {.short_seconds = 0.02}};
  for (int i = 0; i < 5; ++i) queue.jobs.push_back({.rows = 2000, .most_workers = 1});
  queue.workers.resize(2);
  queue.Run();
  queue.ExpectAllTrained();
  std::map<JobId, std::set<WorkerId>> served;
  std::map<JobId, WorkerId> home;
  for (const Task& task : queue.begun) {
    if (task.kind == TaskKind::kRelease) {
      home.erase(task.job);
      continue;
    }
    served[task.job].insert(task.worker);
    const auto [found, is_new] = home.emplace(task.job, task.worker);
    EXPECT_EQ(found->second, task.worker) << "it moved without a release";
  }
  std::size_t moved = 0;
  for (const auto& [job, workers] : served) moved += workers.size() > 1;
  EXPECT_GT(moved, 0u);
}

// Tasks of any length are made of the same updates at the same learning rates.
TEST(ExclusiveJobs, AreCutIntoTheSameUpdatesHoweverLongATaskIs) {
  struct Update {
    RowRange rows;
    float rate;
    bool operator==(const Update&) const = default;
  };
  const auto updates = [](double seconds_per_row) {
    FakeQueue queue{.jobs = {{.rows = 5000, .epochs = 2, .most_workers = 1, .valid_rows = 10}},
                    .cost = {.seconds_per_row = seconds_per_row}};
    queue.Run();
    std::vector<Update> all;
    for (const Task& task : queue.begun) {
      if (task.kind != TaskKind::kTrain) continue;
      for (int i = 0; i < task.merges; ++i) {
        all.push_back({Part(task.rows, i, task.merges), task.learning_rate});
      }
    }
    return all;
  };
  const std::vector<Update> slow = updates(1e-2);
  EXPECT_GT(slow.size(), 100u);
  for (const double seconds_per_row : {1e-3, 3e-5, 1e-6}) EXPECT_EQ(updates(seconds_per_row), slow);
}

}  // namespace
}  // namespace hogbatch
