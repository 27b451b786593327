// Adaptive Hogbatch in virtual time when something changes on the way: speeds, stops and failures.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "algorithms/adaptive_options.h"
#include "tests/runtime/teams_run.h"

namespace hogbatch {
namespace {

FakeRun ThreadsAndGpu(double seconds) {
  FakeRun run = EightThreads(seconds);
  AddGpu(run, kGpu);
  return run;
}

// The same with one size for the threads, so that the GPU has to follow them alone.
FakeRun SteadyThreadsAndGpu(double seconds, const CostModel& gpu) {
  FakeRun run = TeamsRun(seconds);
  run.algorithm_options = {.cpu_batch = {64, 64}, .gpu_batch = {1, 8192}};
  AddThreads(run, 8, kThread);
  AddGpu(run, gpu);
  return run;
}

void ExpectEvenShares(const std::vector<double>& shares) {
  for (const double share : shares) {
    EXPECT_NEAR(share, 1.0 / static_cast<double>(shares.size()), 0.05);
    testing::Test::RecordProperty("share", std::to_string(share));
  }
}

// Geometric mean of a team's rows per update over the reports between two times.
double MeanRows(const FakeRun& run, std::size_t team, double begin, double end) {
  double sum = 0;
  int count = 0;
  for (const Progress& report : run.recorder.reports) {
    if (report.seconds < begin || report.seconds >= end) continue;
    sum += std::log(static_cast<double>(report.teams[team].batch_size));
    ++count;
  }
  return std::exp(sum / count);
}

double RowsOf(const FakeRun& run, WorkerId begin, WorkerId end) {
  std::int64_t rows = 0;
  for (const Task& task : run.ledger.finished) {
    if (task.worker >= begin && task.worker < end) rows += task.rows.size();
  }
  return static_cast<double>(rows);
}

TEST(AdaptiveHogbatch, FollowsATeamThatChangesSpeedInTheMiddle) {
  for (const double factor : {5.0, 0.2}) {
    SCOPED_TRACE(factor);
    FakeRun run = ThreadsAndGpu(60);
    run.workers[8].cost = SlowerFrom(10, factor, kGpu);
    run.Run();
    ExpectEvenShares(SharesBetween(run, 1, 10));
    ExpectEvenShares(SharesBetween(run, 20, 60));
  }
}

TEST(AdaptiveHogbatch, ShrinksTheUpdatesOfAWorkerThatIsSlowed) {
  constexpr CostModel kSmallGpu = {.seconds_per_row = 1e-5, .seconds_per_update = 5e-5};
  FakeRun steady = SteadyThreadsAndGpu(40, kSmallGpu), slowed = steady;
  slowed.workers[8].cost = SlowerFrom(10, 10, kSmallGpu);
  steady.Run();
  slowed.Run();
  EXPECT_LT(MeanRows(slowed, 1, 10, 40), 0.25 * MeanRows(steady, 1, 10, 40));
  ExpectEvenShares(SharesBetween(slowed, 4, 10));
  ExpectEvenShares(SharesBetween(slowed, 15, 40));
  EXPECT_NEAR(RowsOf(slowed, 0, 8) / RowsOf(steady, 0, 8), 1, 0.02);  // the threads lose nothing
}

TEST(AdaptiveHogbatch, LetsTheOthersGoOnWhenOneThreadIsSlowed) {
  FakeRun steady = ThreadsAndGpu(30), slowed = steady;
  slowed.workers[3].cost = SlowerFrom(0, 10, kThread);
  steady.Run();
  slowed.Run();
  ExpectEvenShares(SettledShares(slowed));
  EXPECT_NEAR(RowsOf(slowed, 3, 4) / RowsOf(steady, 3, 4), 0.1, 0.02);
  EXPECT_NEAR(RowsOf(slowed, 4, 8) / RowsOf(steady, 4, 8), 1, 0.05);
}

TEST(AdaptiveHogbatch, ShrinksTheUpdatesOfAWorkerThatStoodStillUntilItHasCaughtUp) {
  FakeRun steady = SteadyThreadsAndGpu(30, kGpu), stopped = steady;
  stopped.workers[8].cost = StoppedBetween(5, 8, kGpu);
  steady.Run();
  stopped.Run();
  const auto& before = TeamsAt(stopped, 5.1);
  const auto& after = TeamsAt(stopped, 7.9);
  EXPECT_GT(after[0].updates, before[0].updates + 3000);  // the threads go on
  EXPECT_EQ(after[1].updates, before[1].updates);
  const double rows_before = MeanRows(stopped, 1, 4, 5);
  EXPECT_GT(rows_before, 60);
  EXPECT_LT(static_cast<double>(TeamsAt(stopped, 8.5)[1].batch_size), rows_before / 4);
  ExpectEvenShares(SharesBetween(stopped, 0, 30));
  EXPECT_NEAR(RowsOf(stopped, 0, 8) / RowsOf(steady, 0, 8), 1, 0.02);
}

TEST(AdaptiveHogbatch, LetsTheOthersGoOnWhileAThreadStandsStill) {
  FakeRun run = ThreadsAndGpu(30);
  run.workers[3].cost = StoppedBetween(5, 8, kThread);
  FakeRun steady = ThreadsAndGpu(30);
  run.Run();
  steady.Run();
  EXPECT_NEAR(RowsOf(run, 3, 4) / RowsOf(steady, 3, 4), 0.9, 0.03);
  EXPECT_NEAR(RowsOf(run, 4, 8) / RowsOf(steady, 4, 8), 1, 0.05);
  ExpectEvenShares(SharesBetween(run, 3, 30));
}

// The paper's rule at every request, without reviews and band.
class AtEveryRequest : public Algorithm {
 public:
  std::optional<Assignment> Assign(const WorkerState& idle, const JobTable& table) override {
    const AlgorithmOptions options;
    IndexedVector<TeamId, double> count(2);
    for (const WorkerState& worker : table.workers) {
      count[worker.team] += static_cast<double>(worker.updates);
    }
    const double own = count[idle.team], other = count[idle.team == 0 ? 1 : 0];
    const BatchRange& range = idle.team == 0 ? options.cpu_batch : options.gpu_batch;
    std::int64_t& rows = rows_[idle.team];
    if (own < other) rows = std::max(rows / 2, range.min);
    if (own > other) rows = std::min(rows * 2, range.max);
    return Assignment{.batch_size = rows};
  }

 private:
  IndexedVector<TeamId, std::int64_t> rows_{std::vector<std::int64_t>{16, 512}};
};

// About what 48 threads and a V100 need for a network of 1.3 million weights: the threads share
// the way to memory.
TEST(AdaptiveHogbatch, SettlesWhereTheRuleAtEveryRequestFlaps) {
  const auto run_with = [](Watched& watched) {
    FakeRun run = TeamsRun(20);
    AddThreads(run, 48, {.seconds_per_row = 4e-4, .seconds_per_update = 1.2e-2});
    AddGpu(run, {.seconds_per_row = 1e-6, .seconds_per_update = 6e-4});
    run.own_algorithm = &watched;
    run.Run();
    ExpectEvenShares(SettledShares(run));
  };
  Watched flapping(std::make_unique<AtEveryRequest>());
  Watched without_band(MakeAlgorithm("adaptive", {.own = AdaptiveOptions{.adapt_band = 0}}));
  Watched settling(MakeAlgorithm("adaptive", {}));
  run_with(flapping);
  run_with(without_band);
  run_with(settling);
  EXPECT_LT(5 * settling.changes(), flapping.changes());
  EXPECT_LT(5 * settling.changes(), without_band.changes());
  RecordProperty("changes_at_every_request", std::to_string(flapping.changes()));
  RecordProperty("changes_in_reviews_without_band", std::to_string(without_band.changes()));
  RecordProperty("changes", std::to_string(settling.changes()));
}

TEST(AdaptiveHogbatch, DoesNotWaitForATeamThatIsGone) {
  FakeRun run = ThreadsAndGpu(30);
  AddGpu(run, {.seconds_per_row = 5e-6, .seconds_per_update = 1e-3}).fail_call = 2000;
  run.Run();
  ASSERT_EQ(run.recorder.failures, std::vector<std::string>{"cuda.1: injected"});
  const std::vector<double> shares = SharesBetween(run, 15, 30);
  EXPECT_EQ(shares[2], 0);
  ExpectEvenShares({shares[0], shares[1]});
}

// A thread and a GPU, each at every call it makes.
TEST(AdaptiveHogbatch, TrainsEveryRowOfAnEpochOnceWhoeverFails) {
  for (const std::size_t victim : {2, 5}) {
    for (int call = 1;; ++call) {
      SCOPED_TRACE("worker " + std::to_string(victim) + " call " + std::to_string(call));
      FakeRun run{.algorithm = "adaptive", .costs = {}};
      run.algorithm_options.gpu_batch = {8, 128};
      AddThreads(run, 4, kThread);
      AddGpu(run, kGpu).room = 100;
      AddGpu(run, kGpu);
      run.workers[victim].fail_call = call;
      const RunResult result = run.Run();
      run.ExpectEveryRowTrained(2);
      EXPECT_EQ(result.totals.examples, 20000);
      EXPECT_EQ(result.stopped_because, StopReason::kEpochs);
      if (!run.recorder.failures.empty()) continue;
      EXPECT_GT(call, 30);
      break;
    }
  }
}

}  // namespace
}  // namespace hogbatch
