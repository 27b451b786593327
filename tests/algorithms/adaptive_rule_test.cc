// The rule of Adaptive Hogbatch to the letter: reports go in by hand, sizes come out.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "algorithms/adaptive_options.h"
#include "tests/algorithms/algorithm_driver.h"

namespace hogbatch {
namespace {

using By = BoundTeam::By;

AlgorithmOptions PapersRule() { return {.own = AdaptiveOptions{.adapt_band = 0}}; }

TEST(AdaptiveRule, BeginsWithTheUsualRowsOnAThreadAndTheFewestOnAGpu) {
  AlgorithmDriver usual(1, 1), narrow(1, 1, {.cpu_batch = {1, 8}, .gpu_batch = {1024, 8192}});
  EXPECT_EQ(usual.Ask(0), 16);
  EXPECT_EQ(usual.Ask(1), 64);
  EXPECT_EQ(narrow.Ask(0), 8);
  EXPECT_EQ(narrow.Ask(1), 1024);
}

TEST(AdaptiveRule, GrowsTheTeamAheadAndShrinksTheTeamBehind) {
  AlgorithmDriver driver(1, 1, PapersRule());
  EXPECT_EQ(driver.Ask(0), 16);
  EXPECT_EQ(driver.Ask(1), 64);
  EXPECT_EQ(driver.ReportAndAsk(1, 4), 128);  // 0 : 4
  EXPECT_EQ(driver.ReportAndAsk(1, 4), 256);  // 0 : 8
  EXPECT_EQ(driver.ReportAndAsk(0, 10), 32);  // 10 : 8
  EXPECT_EQ(driver.ReportAndAsk(1, 1), 128);  // 10 : 9
  EXPECT_EQ(driver.ReportAndAsk(1, 1), 128);  // 10 : 10, even
  EXPECT_EQ(driver.ReportAndAsk(0, 1), 64);   // 11 : 10
  EXPECT_EQ(driver.ReportAndAsk(1, 1), 128);  // 11 : 11, even
  EXPECT_EQ(driver.ReportAndAsk(1, 8), 256);  // 11 : 19
  EXPECT_EQ(driver.ReportAndAsk(0, 1), 32);   // 12 : 19
}

TEST(AdaptiveRule, JudgesATeamOnceEachOfItsWorkersHasReported) {
  AlgorithmDriver driver(3, 1, PapersRule());
  for (const WorkerId id : {0, 1, 2, 3}) driver.Ask(id);
  EXPECT_EQ(driver.ReportAndAsk(0, 5), 16);
  EXPECT_EQ(driver.ReportAndAsk(1, 5), 16);
  EXPECT_EQ(driver.ReportAndAsk(0, 5), 16);  // twice is no substitute for the third
  EXPECT_EQ(driver.ReportAndAsk(2, 5), 32);
  EXPECT_EQ(driver.Ask(0), 32);
  EXPECT_EQ(driver.ReportAndAsk(1, 5), 32);
  EXPECT_EQ(driver.ReportAndAsk(2, 5), 32);
  EXPECT_EQ(driver.ReportAndAsk(0, 5), 64);
}

TEST(AdaptiveRule, DoesNotRunAheadOfATeamThatEvaluates) {
  AlgorithmDriver driver(1, 1, PapersRule());
  for (const WorkerId id : {0, 1}) driver.Ask(id);
  driver.worker(0).evaluations = 1;
  EXPECT_EQ(driver.ReportAndAsk(1, 4), 64);
  EXPECT_EQ(driver.ReportAndAsk(1, 4), 64);
  driver.worker(0).evaluations = 0;
  EXPECT_EQ(driver.ReportAndAsk(1, 4), 128);
}

TEST(AdaptiveRule, LetsNoGpuRunAheadOfAnotherWhileTheCoresEvaluate) {
  AlgorithmDriver driver(2, 2, PapersRule());
  for (const WorkerId id : {0, 1, 2, 3}) driver.Ask(id);
  driver.worker(0).evaluations = driver.worker(1).evaluations = 1;
  EXPECT_EQ(driver.ReportAndAsk(2, 4), 64);
  driver.worker(1).evaluations = 0;  // one of the cores is enough
  EXPECT_EQ(driver.ReportAndAsk(2, 4), 128);
}

TEST(AdaptiveRule, AwaitsNewReportsAfterAReviewThatFoundCountsEven) {
  AlgorithmDriver driver(2, 1, PapersRule());
  for (const WorkerId id : {0, 1, 2}) driver.Ask(id);
  driver.Report(2, 4);
  driver.Report(0, 2);
  EXPECT_EQ(driver.ReportAndAsk(1, 2), 16);  // 4 : 4
  EXPECT_EQ(driver.ReportAndAsk(1, 2), 16);  // 6 : 4, but worker 0 has not reported
  EXPECT_EQ(driver.ReportAndAsk(0, 2), 32);
}

TEST(AdaptiveRule, DoesNotWaitForAWorkerThatFailed) {
  AlgorithmDriver driver(3, 1, PapersRule());
  for (const WorkerId id : {0, 1, 2, 3}) driver.Ask(id);
  driver.Report(0, 5);
  EXPECT_EQ(driver.ReportAndAsk(1, 5), 16);
  driver.worker(2).live = false;
  EXPECT_EQ(driver.Ask(1), 32);
}

TEST(AdaptiveRule, ChangesOnlyTheFirstAndTheLastOfManyTeams) {
  AlgorithmDriver driver(2, 3, PapersRule());
  for (const WorkerId id : {0, 1, 2, 3, 4}) driver.Ask(id);
  EXPECT_EQ(driver.ReportAndAsk(3, 3), 128);
  driver.Report(0, 10);
  driver.Report(1, 10);
  driver.Report(2, 19);
  driver.Report(4, 3);
  EXPECT_EQ(driver.Ask(0), 32);               // 20
  EXPECT_EQ(driver.Ask(2), 64);               // 19: between the others
  EXPECT_EQ(driver.ReportAndAsk(3, 0), 128);  // 3, but so has another
  EXPECT_EQ(driver.ReportAndAsk(4, 1), 64);
  EXPECT_EQ(driver.ReportAndAsk(3, 0), 64);
}

TEST(AdaptiveRule, ComparesTwoGpusWithoutACpu) {
  AlgorithmDriver driver(0, 2, PapersRule());
  driver.Ask(0);
  driver.Ask(1);
  EXPECT_EQ(driver.ReportAndAsk(0, 2), 128);
  EXPECT_EQ(driver.ReportAndAsk(1, 3), 128);
  EXPECT_EQ(driver.ReportAndAsk(0, 0), 64);
}

TEST(AdaptiveRule, NeverChangesATeamThatIsAlone) {
  for (const auto& [threads, gpus] : {std::pair{4, 0}, std::pair{0, 1}}) {
    AlgorithmDriver driver(threads, gpus, PapersRule());
    const std::int64_t first = driver.Ask(0);
    for (int i = 0; i < 100; ++i) {
      for (const WorkerState& worker : driver.workers()) {
        EXPECT_EQ(driver.ReportAndAsk(worker.id, 7), first);
      }
    }
    EXPECT_TRUE(driver.held().empty());
  }
}

TEST(AdaptiveRule, DoesNotCompareWithATeamThatIsGone) {
  AlgorithmDriver driver(1, 2, PapersRule());
  for (const WorkerId id : {0, 1, 2}) driver.Ask(id);
  driver.Report(1, 5);
  driver.Report(2, 1);
  EXPECT_EQ(driver.ReportAndAsk(0, 3), 16);  // between 5 and 1
  driver.worker(2).live = false;
  EXPECT_EQ(driver.ReportAndAsk(0, 1), 8);  // the last of those that are left
  driver.worker(1).live = false;
  EXPECT_EQ(driver.ReportAndAsk(0, 1), 8);  // alone
}

TEST(AdaptiveRule, CountsBetaForAnUpdateOfACpuThread) {
  AlgorithmDriver driver(1, 1, {.own = AdaptiveOptions{.beta = 0.5, .adapt_band = 0}});
  driver.Ask(0);
  driver.Ask(1);
  driver.Report(1, 10);
  EXPECT_EQ(driver.ReportAndAsk(0, 20), 16);  // 10 : 10
  EXPECT_EQ(driver.Ask(1), 64);
  EXPECT_EQ(driver.ReportAndAsk(0, 1), 32);
}

// 16, 24, 36, 54, 81: sizes are real numbers, and rounded only for use.
TEST(AdaptiveRule, ChangesByAnyAlpha) {
  AlgorithmDriver driver(
      1, 1, {.cpu_batch = {1, 1000}, .own = AdaptiveOptions{.alpha = 1.5, .adapt_band = 0}});
  driver.Ask(0);
  driver.Ask(1);
  for (const std::int64_t rows : {24, 36, 54, 81, 122, 182, 273}) {
    EXPECT_EQ(driver.ReportAndAsk(0, 1), rows);
  }
  driver.Report(1, 100);
  for (const std::int64_t rows : {182, 122, 81, 54, 36, 24, 16, 11, 7, 5, 3, 2, 1}) {
    EXPECT_EQ(driver.ReportAndAsk(0, 1), rows);
  }
}

TEST(AdaptiveRule, NamesTheBoundThatHoldsATeamAndInHowManyReviews) {
  AlgorithmDriver driver(
      1, 1,
      {.cpu_batch = {4, 48}, .gpu_batch = {256, 8192}, .own = AdaptiveOptions{.adapt_band = 0}});
  driver.Ask(0);
  driver.Ask(1);
  EXPECT_EQ(driver.ReportAndAsk(0, 10), 32);
  EXPECT_TRUE(driver.held().empty());
  EXPECT_EQ(driver.ReportAndAsk(0, 10), 48);  // cut short
  EXPECT_EQ(driver.ReportAndAsk(0, 10), 48);  // forbidden
  EXPECT_EQ(driver.ReportAndAsk(1, 31), 512);
  EXPECT_EQ(driver.ReportAndAsk(0, 10), 48);  // forbidden
  EXPECT_EQ(driver.ReportAndAsk(1, 1), 256);  // just reached
  EXPECT_EQ(driver.ReportAndAsk(1, 1), 256);  // forbidden
  const std::vector<BoundTeam> held = driver.held();
  ASSERT_EQ(held.size(), 2u);
  EXPECT_EQ(held[0].team, 0);
  EXPECT_EQ(held[0].by, By::kMax);
  EXPECT_EQ(held[0].batch_size, 48);
  EXPECT_DOUBLE_EQ(held[0].share_of_reviews, 3.0 / 4);
  EXPECT_EQ(held[1].team, 1);
  EXPECT_EQ(held[1].by, By::kMin);
  EXPECT_EQ(held[1].batch_size, 256);
  EXPECT_DOUBLE_EQ(held[1].share_of_reviews, 1.0 / 3);
}

TEST(AdaptiveRule, KeepsToTheLeastMemoryOfATeamAndNamesIt) {
  AlgorithmDriver driver(0, 2, {.gpu_batch = {512, 8192}, .own = AdaptiveOptions{.adapt_band = 0}});
  driver.worker(0).max_batch_size = 1500;
  EXPECT_EQ(driver.Ask(0), 512);
  driver.Ask(1);
  EXPECT_EQ(driver.ReportAndAsk(0, 1), 1024);
  EXPECT_TRUE(driver.held().empty());
  EXPECT_EQ(driver.ReportAndAsk(0, 1), 1500);
  ASSERT_EQ(driver.held().size(), 1u);
  EXPECT_EQ(driver.held()[0].by, By::kMemory);
  EXPECT_EQ(driver.held()[0].batch_size, 1500);
  // It turns out to be less still. That is no review, and nobody wanted more.
  driver.worker(0).max_batch_size = 700;
  EXPECT_EQ(driver.Ask(0), 700);
  EXPECT_DOUBLE_EQ(driver.held()[0].share_of_reviews, 0.5);
  driver.Report(1, 9);
  EXPECT_EQ(driver.ReportAndAsk(0, 1), 512);  // half of it is below the range
}

TEST(AdaptiveRule, GivesNoMoreThanMemoryHoldsEvenBelowTheRange) {
  AlgorithmDriver driver(2, 1, {.cpu_batch = {8, 64}, .own = AdaptiveOptions{.adapt_band = 0}});
  driver.worker(1).max_batch_size = 5;
  EXPECT_EQ(driver.Ask(0), 5);
  driver.Ask(1);
  driver.Ask(2);
  driver.Report(2, 9);
  driver.Report(0, 1);
  EXPECT_EQ(driver.ReportAndAsk(1, 1), 5);
  EXPECT_EQ(driver.held().at(0).by, By::kMin);
  driver.worker(1).live = false;
  EXPECT_EQ(driver.Ask(0), 8);  // the others have room
}

}  // namespace
}  // namespace hogbatch
