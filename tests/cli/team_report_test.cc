#include "cli/reports/team_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/reports/live_line.h"
#include "tests/cli/teams.h"

namespace hogbatch {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using By = BoundTeam::By;

TEST(TeamFields, SayShareRowsAndTheBoundATeamStandsAt) {
  EXPECT_THAT(TeamFields(CoresAndGpu()),
              ElementsAre("cpu 52% x64 (max)", "opencl.0 48% x128", "beta 0.99"));
}

TEST(TeamFields, MarkNoTeamThatLeftItsBound) {
  Progress progress = CoresAndGpu();
  progress.teams[0].batch_size = 32;
  EXPECT_EQ(TeamFields(progress).front(), "cpu 52% x32");
}

TEST(TeamFields, MarkATeamWhoseLatestUpdateWasTheRestOfABlock) {
  Progress progress = CoresAndGpu();
  progress.teams[0].batch_size = 90;
  progress.bound_teams.push_back(
      {.team = 1, .by = By::kMin, .batch_size = 128, .share_of_reviews = 0.5});
  progress.teams[1].batch_size = 120;
  EXPECT_THAT(TeamFields(progress),
              ElementsAre("cpu 52% x90 (max)", "opencl.0 48% x120 (min)", "beta 0.99"));
}

TEST(TeamFields, AreNoneForOneTeamAndBeforeTheFirstUpdate) {
  Progress alone = CoresAndGpu();
  alone.teams.resize(1);
  EXPECT_THAT(TeamFields(alone), IsEmpty());
  Progress fresh = CoresAndGpu();
  fresh.updates = 0;
  EXPECT_THAT(TeamFields(fresh), IsEmpty());
}

TEST(TeamFields, SayNothingAndAllOnlyWhenTheyAreMeant) {
  Progress progress = CoresAndGpu();
  progress.teams[0].update_share = 0.999;
  progress.teams[1].update_share = 0.001;
  progress.teams[1].batch_size = 0;
  EXPECT_THAT(TeamFields(progress), ElementsAre("cpu >99% x64 (max)", "opencl.0 <1%", "beta 0.99"));
  progress.teams[0].update_share = 1;
  progress.teams[1].update_share = 0;
  EXPECT_THAT(TeamFields(progress), ElementsAre("cpu 100% x64 (max)", "opencl.0 0%", "beta 0.99"));
}

TEST(TeamFields, ManyGpusShareOne) {
  Progress progress = CoresAndGpu();
  progress.beta.reset();
  progress.teams.resize(1);
  progress.teams[0].update_share = 0.12;
  for (int i = 0; i < 4; ++i) {
    progress.teams.push_back({.name = "cuda." + std::to_string(i),
                              .kind = DeviceKind::kCuda,
                              .update_share = 0.22,
                              .batch_size = i < 3 ? 512 : 2048});
  }
  EXPECT_THAT(TeamFields(progress), ElementsAre("cpu 12% x64 (max)", "4 GPUs 88% x512-2048"));
  progress.teams[progress.teams.size() - 1].batch_size = 512;
  EXPECT_EQ(TeamFields(progress).back(), "4 GPUs 88% x512");
}

TEST(TeamLines, SayWhatEachTeamDidAndHowUpdatesMet) {
  Progress totals = CoresAndGpu();
  totals.bound_teams.clear();
  EXPECT_THAT(
      TeamLines(totals),
      ElementsAre(
          "teams     cpu 5,200 updates (52%) of 64 rows on average, 41.6k rows/s; opencl.0 "
          "4,800 updates (48%) of 128 rows on average, 76.8k rows/s",
          "merging   half of all merges had a staleness of at most 3; beta 0.99: this share of "
          "what updates added is still in the model"));
}

TEST(TeamLines, SayOfATeamThatDidNothingThatItDidNothing) {
  Progress totals = CoresAndGpu();
  totals.teams[1] = {.name = "opencl.0", .kind = DeviceKind::kOpenCl};
  EXPECT_THAT(TeamLines(totals).front(), EndsWith("; opencl.0 0 updates (0%)"));
}

TEST(TeamLines, NameTheBoundsThatKeptTeamsFromBalanceAndTheWayOut) {
  Progress totals = Unbalanced();
  EXPECT_THAT(
      TeamLines(totals)[1],
      "bounds    cpu was limited by --cpu-batch max 64 in 97% of its reviews, opencl.0 was limited "
      "by "
      "--gpu-batch min 64 in 95% of its reviews, so updates are not balanced; raise the maximum of "
      "--cpu-batch or lower the minimum of --gpu-batch");
}

TEST(TeamLines, PromiseNoWayOutWhereThereIsNone) {
  Progress totals = Unbalanced();
  totals.bound_teams = {
      {.team = 0, .by = By::kMin, .batch_size = 1, .share_of_reviews = 0.5, .count_share = 0.1},
      {.team = 1,
       .by = By::kMemory,
       .batch_size = 4096,
       .share_of_reviews = 0.5,
       .count_share = 0.9}};
  EXPECT_EQ(
      TeamLines(totals)[1],
      "bounds    cpu was limited by --cpu-batch min 1 in 50% of its reviews, opencl.0 was "
      "limited to 4,096 rows by its memory in 50% of its reviews, so updates are not balanced");
}

TEST(TeamLines, BlameNoBoundForSharesThatAreEven) {
  EXPECT_EQ(TeamLines(CoresAndGpu())[1],
            "bounds    cpu was limited by --cpu-batch max 64 in 97% of its reviews");
}

// --beta 0.5: two updates of the cores count as one.
TEST(TeamLines, BlameNoBoundForSharesThatAreEvenAsTheyAreCounted) {
  Progress totals = CoresAndGpu();
  totals.teams[0].update_share = 0.67;
  totals.teams[1].update_share = 0.33;
  totals.bound_teams[0].count_share = 0.5;
  EXPECT_THAT(TeamLines(totals)[1], EndsWith("in 97% of its reviews"));
}

TEST(TeamLines, NameNoBoundThatWasOnlyPassed) {
  Progress totals = Unbalanced();
  for (BoundTeam& held : totals.bound_teams) held.share_of_reviews = 0.05;
  EXPECT_THAT(TeamLines(totals)[1], HasSubstr("merging "));
}

TEST(TeamLines, SayWhatWasLostAndWhoFailedEvenInARunOfOneTeam) {
  Progress totals;
  EXPECT_THAT(TeamLines(totals), IsEmpty());
  totals.lost_rows = 1200;
  totals.workers = {{.name = "cpu.0", .updates = 6, .failure = ""},
                    {.name = "cpu.1", .updates = 4000, .failure = "it broke"}};
  totals.teams = TeamsOf({{.name = "cpu", .updates = 4006, .update_share = 1}});
  EXPECT_THAT(TeamLines(totals),
              ElementsAre("lost      1,200 rows of updates that failed when part of them was "
                          "already in the model",
                          "failed    cpu.1 after 4,000 updates: it broke"));
}

TEST(TeamLines, PutTheMiddleUpdateWhereItStands) {
  Progress totals = CoresAndGpu();
  totals.beta.reset();
  const auto with = [&](const std::vector<std::int64_t>& merges) {
    totals.staleness = {};
    for (const std::int64_t each : merges) totals.staleness.Add(each);
    return TeamLines(totals).back();
  };
  EXPECT_THAT(with({0, 0, 9}), HasSubstr("had a staleness of 0"));
  EXPECT_THAT(with({0, 1, 9}), HasSubstr("had a staleness of at most 1"));
  EXPECT_THAT(with({5, 9}), HasSubstr("had a staleness of at most 7"));
  EXPECT_THAT(with({1 << 30, 1 << 30}), HasSubstr("had a staleness of 262,144 or more"));
  EXPECT_THAT(with({}), HasSubstr("bounds "));  // nothing was counted, nothing is said
}

TEST(MostBound, IsTheBoundOfTheMostRounds) {
  Progress progress = CoresAndGpu();
  progress.bound_teams = {{.team = 1, .by = By::kMin, .batch_size = 64, .share_of_reviews = 0.1},
                          {.team = 1, .by = By::kMax, .batch_size = 8192, .share_of_reviews = 0.6}};
  EXPECT_EQ(MostBound(progress, 0), std::nullopt);
  EXPECT_EQ(MostBound(progress, 1)->batch_size, 8192);
}

}  // namespace
}  // namespace hogbatch
