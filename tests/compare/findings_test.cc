#include "compare/findings/findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compare/page/page.h"
#include "compare/page/wording.h"
#include "compare/phases/side_speed.h"
#include "tests/compare/records.h"

namespace hogbatch::compare {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::vector<Side> kSides = {{.name = "hogbatch",
                                   .framework = "hogbatch",
                                   .script = {},
                                   .version = "1",
                                   .updates = Updates::kAsynchronous,
                                   .variants = {"v"}},
                                  {.name = "other",
                                   .framework = "other",
                                   .script = "o.py",
                                   .version = "2",
                                   .updates = Updates::kSynchronous,
                                   .variants = {"v", "w"}}};

FindingFacts Facts(double target = 0.5) {
  return {
      .sides = kSides, .batches = {16}, .threads = 2, .train_rows = 1000, .target_loss = target};
}

RunRecord Speed(const std::string& side, std::int64_t batch, std::int64_t repeat, double rate) {
  return WithRate(MakeRun(Phase::kThroughput, side, batch, 0.1, {}, repeat), rate);
}

RunLog WithSpeeds() {
  RunLog log;
  for (std::int64_t repeat = 0; repeat <= 3; ++repeat) {
    const double machine = repeat == 2 ? 0.5 : 1;  // slower for all in one repeat
    log.Add(Speed("hogbatch", 16, repeat, 1000 * machine));
    log.Add(Speed("other", 16, repeat, 250 * machine));
    log.Add(Speed("other", 32, repeat, 500 * machine));
  }
  return log;
}

// Own runs fall to 0 in 10 seconds; the other side's to `to`.
RunLog WithRace(double to) {
  RunLog log = WithSpeeds();
  for (const Phase phase : {Phase::kTuning, Phase::kRace, Phase::kCurve}) {
    for (std::int64_t repeat = 1; repeat <= 3; ++repeat) {
      log.Add(MakeRun(phase, "hogbatch", 16, 0.1, Fall(1, 0), repeat));
      RunRecord other = MakeRun(phase, "other", 64, 0.2, Fall(1, to), repeat);
      other.peak_bytes = 5000;
      log.Add(other);
    }
  }
  return log;
}

TEST(Findings, SpeedsAreComparedRoundByRoundAtBothKindsOfFairness) {
  const Findings findings = FindingsOf(WithSpeeds(), Facts());
  ASSERT_EQ(findings.speeds.size(), 4u);
  EXPECT_EQ(findings.speeds[0].rate.median, 1000);
  EXPECT_EQ(findings.speeds[0].rate.count, 4) << "the first look counts";
  EXPECT_NEAR(findings.speeds[1].advantage->mean, 4, 1e-9);
  EXPECT_EQ(findings.speeds[1].side_batch, 16);
  EXPECT_EQ(findings.speeds[1].advantage->verdict, Verdict::kHigher);
  EXPECT_EQ(findings.speeds[3].side_batch, 32);
  EXPECT_NEAR(findings.speeds[3].advantage->mean, 2, 1e-9);
}

TEST(Findings, TheRaceHasRatiosOfTimeAndMemory) {
  const Findings findings = FindingsOf(WithRace(0.2), Facts());
  ASSERT_EQ(findings.races.size(), 2u);
  const RaceFinding& other = findings.races[1];
  EXPECT_EQ(other.reached, 3);
  EXPECT_NEAR(other.seconds->spread.median, 0.5 / 0.08, 1e-9);
  EXPECT_NEAR(other.seconds->advantage->mean, 0.5 / 0.08 / 5, 1e-9);
  EXPECT_NEAR(other.memory->advantage->mean, 5, 1e-9);
  // 12 seconds from start to end less 11 from the first update on, and 1000 rows at 500 a second.
  EXPECT_NEAR(other.start->spread.median, 3, 1e-9);
  EXPECT_EQ(other.cpu->advantage->verdict, Verdict::kNoise);
}

TEST(Findings, ASideThatMissesTheTargetIsSlowerByAtLeastTheTimeItHad) {
  const Findings findings = FindingsOf(WithRace(0.6), Facts());
  const RaceFinding& other = findings.races[1];
  EXPECT_EQ(other.reached, 0);
  EXPECT_FALSE(other.seconds);
  EXPECT_EQ(RaceSeconds(other), "not in 10.0 s");
  EXPECT_EQ(RaceAdvantage(other, findings), "at least 2.00×");
  EXPECT_EQ(RaceVerdict(other, findings), "hogbatch better");
  EXPECT_EQ(RaceAdvantage(findings.races[0], findings), "–");
}

TEST(Findings, CurvesShowMedianSpreadLevelsAndTheMetricOfTheBestModel) {
  const Findings findings = FindingsOf(WithRace(0.2), Facts());
  ASSERT_EQ(findings.curves.size(), 2u);
  const CurveFinding& own = findings.curves[0];
  EXPECT_NEAR(own.samples.front().median, 1, 1e-9);
  EXPECT_NEAR(own.samples.back().median, 0, 1e-9);
  EXPECT_NEAR(own.metric->median, 0.6, 1e-9);
  EXPECT_EQ(findings.levels.front(), 0.5);
  EXPECT_NEAR(*own.level_seconds.front(), 5, 1e-9);
  EXPECT_FALSE(findings.curves[1].level_seconds.back()) << "lower than it came";
  EXPECT_EQ(findings.curves[1].metric_difference->verdict, Verdict::kNoise);
}

TEST(Findings, SidesThatDoNotBeginAlikeAreSeen) {
  EXPECT_EQ(FindingsOf(WithRace(0.2), Facts()).initial_loss->largest_difference, 0);
  RunLog log = WithRace(0.2);
  RunRecord other = MakeRun(Phase::kCurve, "other", 64, 0.2, Fall(1.1, 0));
  other.plan.seed = 2;
  RunRecord own = MakeRun(Phase::kCurve, "hogbatch", 64, 0.2, Fall(1, 0));
  own.plan.seed = 2;
  log.Add(own);
  log.Add(other);
  const auto initial_loss = FindingsOf(log, Facts()).initial_loss;
  EXPECT_NEAR(initial_loss->largest_difference, 0.1, 1e-9);
  EXPECT_EQ(initial_loss->side, "other");
}

TEST(Findings, FailuresKeepTheirLastWordsOnce) {
  RunLog log = WithSpeeds();
  for (int i = 0; i < 2; ++i) {
    log.Add(Failed(Speed("other", 64, i, 0), Outcome::kFailed, "RuntimeError: boom"));
  }
  log.Add(Failed(Speed("other", 64, 9, 0), Outcome::kDiverged, ""));
  const Findings findings = FindingsOf(log, Facts());
  ASSERT_EQ(findings.failures.size(), 1u) << "to diverge is no failure";
  EXPECT_EQ(findings.failures[0].runs, 2);
  EXPECT_EQ(findings.failures[0].message, "RuntimeError: boom");
}

TEST(Findings, TheFastestVariantAtTheNearestBatchSizeIsTuned) {
  RunLog log = WithSpeeds();
  RunRecord faster = Speed("other", 32, 0, 900);
  faster.plan.variant = "w";
  log.Add(faster);
  EXPECT_EQ(SpeedAt(log, kSides[1], 100)->variant, "w");
  EXPECT_EQ(SpeedAt(log, kSides[1], 8)->variant, "v");
  EXPECT_NEAR(CostOf(log, kSides[0])->overhead_seconds, 2, 1e-9);
  EXPECT_NEAR(CostOf(log, kSides[0])->evaluation_seconds, 0.5, 1e-9);
  EXPECT_FALSE(SpeedAt(RunLog(), kSides[0], 16));
}

TEST(Page, SaysWhatWasComparedAndWhatIsNoise) {
  Comparison comparison{.plan = {.batches = {16}, .lrs = {0.1}, .seeds = 3, .repeats = 3},
                        .command = "hogbatch compare <data>",
                        .sides = kSides,
                        .absent = {{"keras", "not installed; install it with: x & y"}},
                        .log = WithRace(0.2),
                        .complete = true};
  comparison.setting.threads = 2;
  comparison.setting.problem.source = "w8a";
  comparison.setting.problem.valid_rows = 10;
  comparison.findings = FindingsOf(comparison.log, Facts());
  const std::string page = ComparePage(comparison);
  for (const char* part :
       {"hogbatch and other on w8a", "Time to a loss of 0.5", "1.25× (1.25–1.25)",
        "Equal rows in flight", "keras did not take part", "x &amp; y",
        "hogbatch compare &lt;data&gt;", "processor time, other: 1.00×", "gets 2 times the rows",
        "64 rows, lr 0.2"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
  EXPECT_THAT(page, Not(HasSubstr("interrupted")));
  EXPECT_THAT(page, Not(HasSubstr("src="))) << "it must open offline";
  comparison.complete = false;
  EXPECT_THAT(ComparePage(comparison), HasSubstr("This comparison was interrupted"));
}

TEST(Wording, ShowsNoMoreDigitsThanWereMeasured) {
  EXPECT_EQ(RateText(123456), "123,000");
  EXPECT_EQ(RateText(12), "12");
  EXPECT_EQ(SecondsText(0.8412), "0.84 s");
  EXPECT_EQ(SecondsText(185), "3m05s");
  EXPECT_EQ(BytesText(61e6), "61 MB");
  EXPECT_EQ(BytesText(1.234e9), "1.23 GB");
}

}  // namespace
}  // namespace hogbatch::compare
