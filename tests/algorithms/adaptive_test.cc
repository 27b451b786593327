// Adaptive Hogbatch in virtual time: the shares that teams of different speed reach.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "algorithms/adaptive_options.h"
#include "tests/runtime/teams_run.h"

namespace hogbatch {
namespace {

using By = BoundTeam::By;

constexpr CostModel kOlderGpu = {.seconds_per_row = 5e-6, .seconds_per_update = 1e-3};
constexpr CostModel kSmallGpu = {.seconds_per_row = 3e-6, .seconds_per_update = 2e-4};

// Even to ten points between two teams; kept in the test's record.
void ExpectEven(const std::vector<double>& shares) {
  for (std::size_t i = 0; i < shares.size(); ++i) {
    EXPECT_NEAR(shares[i], 1.0 / static_cast<double>(shares.size()), 0.05) << "team " << i;
    testing::Test::RecordProperty("share_of_team_" + std::to_string(i), std::to_string(shares[i]));
  }
}

TEST(AdaptiveHogbatch, LevelsUpdatesOfTeamsOfVeryDifferentSpeed) {
  FakeRun run = EightThreads(20);
  AddGpu(run, kGpu);
  run.Run();
  ExpectEven(SettledShares(run));
}

TEST(AdaptiveHogbatch, LevelsUpdatesWithinTheUsualRanges) {
  FakeRun run = EightThreads(20);
  run.algorithm_options = {};
  AddGpu(run, kGpu);
  run.Run();
  ExpectEven(SettledShares(run));
}

TEST(AdaptiveHogbatch, LevelsUpdatesWithoutMeetingABoundInSmallSteps) {
  FakeRun run = EightThreads(20);
  run.rows.train = 4000000;
  run.algorithm_options = {
      .cpu_batch = {1, 1 << 20}, .gpu_batch = {16, 1 << 20}, .own = AdaptiveOptions{.alpha = 1.1}};
  AddGpu(run, kGpu);
  const RunResult result = run.Run();
  // A GPU begins at its smallest batch, and may be held there for a moment.
  for (const BoundTeam& held : result.totals.bound_teams) {
    EXPECT_EQ(held.by, By::kMin);
    EXPECT_LT(held.share_of_reviews, 0.02);
  }
  ExpectEven(SettledShares(run));
}

TEST(AdaptiveHogbatch, LevelsThreeAndFourTeams) {
  for (const bool four : {false, true}) {
    FakeRun run = EightThreads(20);
    AddGpu(run, kGpu);
    AddGpu(run, kOlderGpu);
    if (four) AddGpu(run, kSmallGpu);
    run.Run();
    SCOPED_TRACE(four ? "four" : "three");
    ExpectEven(SettledShares(run));
  }
}

TEST(AdaptiveHogbatch, LevelsTwoGpusWithoutACpu) {
  FakeRun run = TeamsRun(20);
  AddGpu(run, kGpu);
  AddGpu(run, kOlderGpu);
  run.Run();
  ExpectEven(SettledShares(run));
}

// With Hogbatch's fixed rows the same teams are far from even.
TEST(AdaptiveHogbatch, LevelsWhatHogbatchLeavesUneven) {
  FakeRun run = EightThreads(20);
  run.algorithm = "hogbatch";
  AddGpu(run, kGpu);
  run.Run();
  EXPECT_GT(SettledShares(run)[0], 0.75);
}

TEST(AdaptiveHogbatch, NamesTheBoundsThatKeepTeamsApart) {
  FakeRun run = TeamsRun(10);
  AddThreads(run, 8, {.seconds_per_row = 1e-5, .seconds_per_update = 2e-5});
  AddGpu(run, kGpu);
  const RunResult result = run.Run();
  EXPECT_GT(SettledShares(run)[0], 0.75);
  const std::vector<BoundTeam>& held = result.totals.bound_teams;
  ASSERT_EQ(held.size(), 2u);
  EXPECT_EQ(held[0].team, 0);
  EXPECT_EQ(held[0].by, By::kMax);
  EXPECT_EQ(held[0].batch_size, 64);
  EXPECT_GT(held[0].share_of_reviews, 0.95);
  EXPECT_EQ(held[1].team, 1);
  EXPECT_EQ(held[1].by, By::kMin);
  EXPECT_EQ(held[1].batch_size, 64);
  EXPECT_GT(held[1].share_of_reviews, 0.95);
  EXPECT_EQ(result.totals.teams[0].batch_size, 64);
  EXPECT_EQ(result.totals.teams[1].batch_size, 64);
}

// Two updates of the CPU for one of the GPU.
TEST(AdaptiveHogbatch, LevelsWhatBetaCounts) {
  FakeRun run = EightThreads(20);
  run.algorithm_options.own = AdaptiveOptions{.beta = 0.5};
  AddGpu(run, kGpu);
  run.Run();
  const std::vector<double> shares = SettledShares(run);
  EXPECT_NEAR(shares[0], 2.0 / 3, 0.05);
  EXPECT_NEAR(shares[1], 1.0 / 3, 0.05);
}

TEST(AdaptiveHogbatch, ChangesSizesByAlphaWithinTheirRanges) {
  for (const double alpha : {2.0, 4.0, 1.5}) {
    SCOPED_TRACE(alpha);
    FakeRun run = EightThreads(5);
    run.algorithm_options = {.cpu_batch = {3, 100},
                             .gpu_batch = {100, 3000},
                             .own = AdaptiveOptions{.alpha = alpha, .adapt_band = 0}};
    AddGpu(run, kGpu);
    Watched watched(MakeAlgorithm("adaptive", run.algorithm_options));
    run.own_algorithm = &watched;
    run.Run();
    const auto expect_steps = [&](const std::vector<std::int64_t>& sizes, const BatchRange& range) {
      EXPECT_GT(sizes.size(), 5u);
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        ASSERT_GE(sizes[i], range.min);
        ASSERT_LE(sizes[i], range.max);
        if (i == 0 || sizes[i] == range.min || sizes[i] == range.max) continue;
        const auto now = static_cast<double>(sizes[i]), before = static_cast<double>(sizes[i - 1]);
        // As near as whole rows are.
        const double less = std::min(now, before), more = std::max(now, before);
        ASSERT_NEAR(more / less, alpha, 0.51 * (1 + alpha) / less);
      }
    };
    expect_steps(watched.sizes(0), run.algorithm_options.cpu_batch);
    expect_steps(watched.sizes(1), run.algorithm_options.gpu_batch);
  }
}

TEST(AdaptiveHogbatch, NamesMemoryThatHoldsATeam) {
  FakeRun run = TeamsRun(5);
  run.algorithm_options.cpu_batch = {64, 64};
  AddThreads(run, 2, kThread);
  AddGpu(run, kSmallGpu).max_batch_size = 300;
  Watched watched(MakeAlgorithm("adaptive", run.algorithm_options));
  run.own_algorithm = &watched;
  const RunResult result = run.Run();
  EXPECT_EQ(watched.sizes(1), (std::vector<std::int64_t>{64, 128, 256, 300}));
  const std::vector<BoundTeam>& held = result.totals.bound_teams;
  ASSERT_EQ(held.size(), 2u);
  EXPECT_EQ(held[0].by, By::kMin);
  EXPECT_EQ(held[1].team, 1);
  EXPECT_EQ(held[1].by, By::kMemory);
  EXPECT_EQ(held[1].batch_size, 300);
  EXPECT_GT(held[1].share_of_reviews, 0.95);
}

// A device that is asked for more than it has room for says so; it is not asked for it again.
TEST(AdaptiveHogbatch, KeepsToMemoryThatIsFoundOutOnTheWay) {
  FakeRun run = TeamsRun(5);
  run.algorithm_options.cpu_batch = {1024, 1024};
  AddThreads(run, 2, kThread);
  AddGpu(run, kSmallGpu).room = 3000;
  Watched watched(MakeAlgorithm("adaptive", run.algorithm_options));
  run.own_algorithm = &watched;
  const RunResult result = run.Run();
  const std::vector<std::int64_t>& sizes = watched.sizes(1);
  // Two tasks are under way when the first comes back.
  const auto met = std::find_if(sizes.begin(), sizes.end(), [](auto rows) { return rows > 3000; });
  ASSERT_NE(met, sizes.end());
  EXPECT_LE(*std::max_element(met + 2, sizes.end()), 3000);
  EXPECT_EQ(result.totals.bound_teams.back().by, By::kMemory);
  EXPECT_EQ(result.totals.bound_teams.back().batch_size, 3000);
}

}  // namespace
}  // namespace hogbatch
