// What hogbatch adds to the published rule: each part over plain values and by reports, and the
// whole beside a second, plainer account of it.
#include "algorithms/adaptive_damping.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "algorithms/adaptive_options.h"
#include "algorithms/adaptive_rule.h"
#include "algorithms/adaptive_teams.h"
#include "core/random.h"
#include "tests/algorithms/algorithm_driver.h"

namespace hogbatch {
namespace {

// For teams that lose no worker and whose speeds are not known, so that no gap is seen to close.
class DampedReference {
 public:
  DampedReference(const AlgorithmDriver& driver, const AlgorithmOptions& options)
      : options_(options),
        own_(options.own.as<AdaptiveOptions>()),
        reported_(driver.workers().size()) {}

  void Report(WorkerId worker) { reported_[worker] = true; }
  std::int64_t Ask(const WorkerState& asking, const std::vector<WorkerState>& workers) {
    bool over = true;
    for (const WorkerState& worker : workers) {
      if (worker.team != asking.team) continue;
      over = over && reported_[worker.id];
    }
    double& rows = asking.team == 0 ? cpu_ : gpu_[asking.team];
    const BatchRange& range = asking.team == 0 ? options_.cpu_batch : options_.gpu_batch;
    if (over) {
      const int side = Direction(asking.team, workers);
      if (side != 0 && !OtherTeamShouldReturnFirst(side, asking.team, workers)) {
        double wanted = side < 0 ? rows / own_.alpha : rows * own_.alpha;
        const bool comes_back = Side(asking.team, workers) == 0;
        if (comes_back && side < 0) wanted = std::max(wanted, First(asking.team));
        if (comes_back && side > 0) wanted = std::min(wanted, First(asking.team));
        if (std::abs(wanted - First(asking.team)) < 1e-6) wanted = First(asking.team);
        rows = std::clamp(wanted, double(range.min), double(range.max));
      }
      for (const WorkerState& worker : workers) {
        if (worker.team == asking.team) reported_[worker.id] = false;
      }
    }
    return std::llround(rows);
  }

 private:
  using Counts = IndexedVector<TeamId, double>;
  Counts CountUpdates(const std::vector<WorkerState>& workers) const {
    Counts counts(std::size_t(workers.back().team) + 1);
    for (const WorkerState& worker : workers) {
      counts[worker.team] += (worker.team == 0 ? own_.beta : 1) * double(worker.updates);
    }
    return counts;
  }

  // -1: behind every other team, 1: ahead of every other.
  int Side(TeamId team, const std::vector<WorkerState>& workers) const {
    const Counts counts = CountUpdates(workers);
    const double own = counts[team];
    const double band = own_.adapt_band * std::accumulate(counts.begin(), counts.end(), 0.0);
    const auto all_others = [&](auto is_apart) {
      return std::ranges::all_of(counts.ids(),
                                 [&](TeamId id) { return id == team || is_apart(counts[id]); });
    };
    if (all_others([&](double other) { return own < other - band; })) return -1;
    return all_others([&](double other) { return own > other + band; }) ? 1 : 0;
  }

  // Where its size is to go: by its side, or back from where its share is not equal.
  int Direction(TeamId team, const std::vector<WorkerState>& workers) const {
    const int side = Side(team, workers);
    if (side != 0) return side;
    const Counts counts = CountUpdates(workers);
    const double all = std::accumulate(counts.begin(), counts.end(), 0.0);
    const double ahead = counts[team] / all - 1 / double(counts.size());
    if (ahead < -own_.adapt_band && Moved(team) > 0) return -1;
    return ahead > own_.adapt_band && Moved(team) < 0 ? 1 : 0;
  }

  // A size does not leave where it began while one on the other side can come back to there.
  bool OtherTeamShouldReturnFirst(int side, TeamId team,
                                  const std::vector<WorkerState>& workers) const {
    if (side * Moved(team) < 0) return false;
    const Counts counts = CountUpdates(workers);
    TeamId other = team == 0 ? 1 : 0;
    for (const TeamId id : counts.ids()) {
      if (id != team && side * (counts[id] - counts[other]) < 0) other = id;
    }
    return Direction(other, workers) == -side && Moved(other) * side > 0;
  }
  // 1: larger than it began, -1: smaller.
  int Moved(TeamId team) const {
    const double rows = team == 0 ? cpu_ : gpu_[team];
    return rows > First(team) ? 1 : rows < First(team) ? -1 : 0;
  }
  double First(TeamId team) const { return team == 0 ? 16 : double(options_.gpu_batch.min); }

  AlgorithmOptions options_;
  AdaptiveOptions own_;
  IndexedVector<WorkerId, bool> reported_;
  double cpu_ = 16;
  IndexedVector<TeamId, double> gpu_{std::vector<double>(8, double(options_.gpu_batch.min))};
};

const AdaptiveOptions kOptions = {.alpha = 2, .beta = 1, .adapt_band = 0.02};

// Live, at its initial batch size.
TeamState Team(double count, double speed = 0) {
  return {.batch_size = 16,
          .initial_batch_size = 16,
          .count = count,
          .speed = speed,
          .has_begun = true,
          .live = 1,
          .training = 1};
}

TeamState TeamAt(double batch_size, TeamState team) {
  team.batch_size = batch_size;
  return team;
}

TEST(AdaptiveDamping, LeavesAGapThatClosesByItself) {
  EXPECT_EQ(DampedFactor(TeamStates({Team(60), Team(40)}), 0, kOptions), 2) << "speeds unknown";
  EXPECT_EQ(DampedFactor(TeamStates({Team(60, 10), Team(40, 10)}), 0, kOptions), 2);
  EXPECT_EQ(DampedFactor(TeamStates({Team(60, 10), Team(40, 10)}), 1, kOptions), 0.5);
  EXPECT_EQ(DampedFactor(TeamStates({Team(60, 10), Team(40, 20)}), 0, kOptions), 1);
  EXPECT_EQ(DampedFactor(TeamStates({Team(60, 10), Team(40, 20)}), 1, kOptions), 1);
}

TEST(AdaptiveDamping, LetsTheOtherTeamReturnBeforeOneLeavesItsInitialSize) {
  EXPECT_EQ(DampedFactor(TeamStates({Team(60), TeamAt(32, Team(40))}), 0, kOptions), 1);
  EXPECT_EQ(DampedFactor(TeamStates({TeamAt(8, Team(60)), TeamAt(32, Team(40))}), 0, kOptions), 2)
      << "it returns itself";
  EXPECT_EQ(DampedFactor(TeamStates({TeamAt(8, Team(60)), Team(40)}), 1, kOptions), 1);
}

TEST(AdaptiveDamping, ReturnsATeamBetweenOthersTowardsItsInitialSizeAndNoFurther) {
  const TeamState middle = Team(20);
  EXPECT_EQ(DampedFactor(TeamStates({Team(70), TeamAt(64, middle), Team(10)}), 1, kOptions), 0.5);
  EXPECT_EQ(DampedFactor(TeamStates({Team(70), TeamAt(20, middle), Team(10)}), 1, kOptions), 0.8);
  EXPECT_EQ(DampedFactor(TeamStates({Team(70), middle, Team(10)}), 1, kOptions), 1);
  EXPECT_EQ(DampedFactor(TeamStates({Team(70), TeamAt(8, middle), Team(10)}), 1, kOptions), 1);
}

TEST(AdaptiveDamping, IsNotInThePublishedFactor) {
  EXPECT_EQ(PublishedFactor(TeamStates({Team(60, 10), Team(40, 20)}), 0, 2), 2);
  EXPECT_EQ(PublishedFactor(TeamStates({Team(60), TeamAt(32, Team(40))}), 0, 2), 2);
  EXPECT_EQ(PublishedFactor(TeamStates({Team(70), TeamAt(64, Team(20)), Team(10)}), 1, 2), 1);
}

TEST(AdaptiveDamping, ReviewsNoTeamWhileAnotherIsOccupied) {
  TeamState gone = Team(5), evaluating = Team(5), new_team = Team(0);
  gone.live = gone.training = 0;
  evaluating.training = 0;
  new_team.has_begun = false;
  EXPECT_TRUE(CanReview(TeamStates({Team(5), Team(5)}), 0, 0.02));
  EXPECT_FALSE(CanReview(TeamStates({Team(5), gone}), 0, 0.02)) << "nothing to compare with";
  EXPECT_TRUE(CanReview(TeamStates({Team(5), gone, Team(5)}), 0, 0.02));
  EXPECT_FALSE(CanReview(TeamStates({Team(5), evaluating, Team(5)}), 0, 0));
  EXPECT_FALSE(CanReview(TeamStates({Team(5), new_team}), 0, 0.02));
  EXPECT_TRUE(CanReview(TeamStates({Team(5), new_team}), 0, 0));
}

TEST(AdaptiveDamping, LeavesAGapAloneThatATeamClosesWhenItComesBackFromTheFirstEvaluation) {
  AlgorithmDriver driver(1, 1, {.own = AdaptiveOptions{.adapt_band = 0.02}});
  driver.Ask(0);
  driver.Ask(1);
  driver.worker(0).evaluations = 1;
  for (int i = 0; i < 5; ++i) driver.Report(1, 50, 64, 100);
  EXPECT_EQ(driver.Ask(1), 64);
  driver.worker(0).evaluations = 0;
  driver.Report(1, 50, 64, 100);
  EXPECT_EQ(driver.Ask(1), 64) << "the core has not begun";
  driver.Report(0, 20, 16, 1000);
  driver.Report(1, 2, 64, 100);
  EXPECT_EQ(driver.Ask(1), 64) << "it is ten times as fast";
  EXPECT_EQ(driver.Ask(0), 16);
}

TEST(AdaptiveDamping, LeavesCountsAloneThatDifferByTheBandOrLess) {
  AlgorithmDriver driver(1, 1, {.own = AdaptiveOptions{.adapt_band = 0.02}});
  driver.Ask(0);
  driver.Ask(1);
  driver.Report(1, 49);
  EXPECT_EQ(driver.ReportAndAsk(0, 51), 16);  // 2 of 100
  EXPECT_EQ(driver.Ask(1), 64);
  EXPECT_EQ(driver.ReportAndAsk(0, 1), 32);  // 3 of 101
  EXPECT_EQ(driver.ReportAndAsk(1, 1), 64);  // 2 of 102
  driver.Report(1, 5);
  EXPECT_EQ(driver.ReportAndAsk(0, 0), 16);  // 3 of 107, the other way
}

// 400 updates a second of 16 rows are as fast as 100 of 64; the GPU makes 100.
TEST(AdaptiveDamping, LeavesSizesAloneWhileTheGapCloses) {
  AlgorithmDriver driver(1, 1,
                         {.cpu_batch = {1, 1024}, .own = AdaptiveOptions{.adapt_band = 0.02}});
  driver.Ask(0);
  driver.Ask(1);
  driver.Report(1, 40, 64, 100);
  driver.Report(0, 60, 16, 400);
  EXPECT_EQ(driver.Ask(0), 32);
  driver.Report(0, 2, 32, 200);
  EXPECT_EQ(driver.Ask(0), 64);
  driver.Report(0, 2, 64, 100);
  EXPECT_EQ(driver.Ask(0), 128) << "as fast as the GPU, but far ahead";
  driver.Report(0, 1, 128, 50);
  EXPECT_EQ(driver.Ask(0), 128) << "still ahead, but not for long";
  driver.Report(0, 1, 128, 50);
  EXPECT_EQ(driver.Ask(0), 128);
}

TEST(AdaptiveDamping, LeavesASmallGapAloneBetweenTeamsThatAreNearlyEquallyFast) {
  const auto rows_after = [](int own, int other, double speed) {
    AlgorithmDriver driver(1, 1, {.own = AdaptiveOptions{.adapt_band = 0.02}});
    driver.Ask(0);
    driver.Ask(1);
    driver.Report(1, other, 64, 100);
    driver.Report(0, own, 16, speed);
    return driver.Ask(0);
  };
  EXPECT_EQ(rows_after(52, 48, 110), 16);
  EXPECT_EQ(rows_after(52, 48, 130), 32) << "a change leaves them nearer";
  EXPECT_EQ(rows_after(53, 47, 110), 32) << "no small gap";
  EXPECT_EQ(rows_after(48, 52, 90), 16);
  EXPECT_EQ(rows_after(48, 52, 70), 8);
}

TEST(AdaptiveDamping, LetsASizeComeBackBeforeAnotherLeaves) {
  AlgorithmDriver driver(1, 1, {.own = AdaptiveOptions{.adapt_band = 0.02}});
  driver.Ask(0);
  driver.Ask(1);
  driver.Report(1, 40);
  EXPECT_EQ(driver.ReportAndAsk(0, 60), 32);
  driver.Report(0, 0);
  EXPECT_EQ(driver.ReportAndAsk(1, 40), 64) << "the thread can come back";
  EXPECT_EQ(driver.Ask(0), 16);
  EXPECT_EQ(driver.ReportAndAsk(1, 10), 128);
}

TEST(AdaptiveDamping, TakesTheBandOfWhatBetaCounts) {
  AlgorithmDriver driver(1, 1, {.own = AdaptiveOptions{.beta = 0.5, .adapt_band = 0.1}});
  driver.Ask(0);
  driver.Ask(1);
  driver.Report(1, 10);
  EXPECT_EQ(driver.ReportAndAsk(0, 24), 16);  // 12 : 10, and a tenth of 22 is more than 2
  EXPECT_EQ(driver.ReportAndAsk(0, 1), 32);   // 12.5 : 10, and of 22.5 less than 2.5
}

// A core at its largest batch leads, and a GPU that was first at the start is between it and
// another.
class BetweenOthers : public testing::Test {
 protected:
  static AlgorithmOptions Options(double band) {
    return {
        .cpu_batch = {1, 64}, .gpu_batch = {16, 8192}, .own = AdaptiveOptions{.adapt_band = band}};
  }
  // The GPU grows to 128 rows.
  static void LetLead(AlgorithmDriver& driver) {
    for (int worker : {0, 1, 2}) {
      driver.Ask(worker);
      driver.Report(worker, 1);
    }
    for (const std::int64_t rows : {32, 64, 128}) EXPECT_EQ(driver.ReportAndAsk(1, 10), rows);
    driver.Report(2, 10);
    driver.Report(0, 500);
  }
};

TEST_F(BetweenOthers, ATeamBehindAnEqualShareComesBackToWhereItBegan) {
  AlgorithmDriver driver(1, 2, Options(0.02));
  LetLead(driver);
  for (const std::int64_t rows : {64, 32, 16, 16}) EXPECT_EQ(driver.ReportAndAsk(1, 1), rows);
  EXPECT_TRUE(driver.held().empty()) << "no bound keeps it from going on";
}

TEST_F(BetweenOthers, ATeamStaysByThePublishedRule) {
  AlgorithmDriver driver(1, 2, Options(0));
  LetLead(driver);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(driver.ReportAndAsk(1, 1), 128);
}

TEST_F(BetweenOthers, ATeamWithAnEqualShareStays) {
  AlgorithmDriver driver(1, 2, Options(0.02));
  LetLead(driver);
  driver.Report(1, 230);  // 260 of 770, and as many in what follows
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(driver.ReportAndAsk(1, 1), 128);
    driver.Report(0, 2);
  }
}

TEST_F(BetweenOthers, ATeamThatCatchesUpByItselfStays) {
  AlgorithmDriver driver(1, 2, Options(0.02));
  LetLead(driver);
  driver.Report(0, 1, 16, 100);
  driver.Report(2, 1, 16, 100);
  driver.Report(1, 1, 128, 5000);
  EXPECT_EQ(driver.Ask(1), 128);
}

TEST(AdaptiveDamping, LeavesAGapBetweenTwoTeamsAloneThatClosesHoweverFastAThirdOneIs) {
  AlgorithmDriver driver(1, 2,
                         {.gpu_batch = {16, 8192}, .own = AdaptiveOptions{.adapt_band = 0.02}});
  for (int worker : {0, 1, 2}) driver.Ask(worker);
  driver.Report(0, 350, 16, 1400);
  driver.Report(2, 280, 16, 100);
  driver.Report(1, 380, 16, 100);
  EXPECT_EQ(driver.Ask(1), 32);
  for (int i = 0; i < 5; ++i) {
    driver.Report(1, 1, 32, 50);
    EXPECT_EQ(driver.Ask(1), 32) << "it is half as fast as the last team now";
  }
}

TEST(AdaptiveDamping, AdaptsWhereUpdatesOfTheCoresCountForNothing) {
  AlgorithmDriver driver(1, 1, {.own = AdaptiveOptions{.beta = 0, .adapt_band = 0.02}});
  driver.Ask(0);
  driver.Ask(1);
  driver.Report(0, 10);
  EXPECT_EQ(driver.ReportAndAsk(1, 10), 128);
  EXPECT_EQ(driver.Ask(0), 8);
}

TEST(AdaptiveDamping, AgreesWithASecondAccountOfIt) {
  for (const double alpha : {2.0, 1.3}) {
    const AlgorithmOptions options{
        .cpu_batch = {1, 1024},
        .gpu_batch = {16, 8192},
        .own = AdaptiveOptions{.alpha = alpha, .beta = 0.75, .adapt_band = 0.02}};
    AlgorithmDriver driver(3, 2, options);
    DampedReference reference(driver, options);
    Random random(7);
    std::vector<std::int64_t> rows;
    for (const WorkerState& worker : driver.workers()) {
      rows.push_back(driver.Ask(worker.id));
      driver.Report(worker.id, 1);  // no team is reviewed before all have begun
      reference.Report(worker.id);
    }
    int changes = 0;
    for (int i = 0; i < 20000; ++i) {
      const auto worker = static_cast<std::size_t>(random.Below(5));
      const auto id = static_cast<WorkerId>(worker);
      // The fewer rows an update has, the more updates a task.
      driver.Report(id, static_cast<int>(random.Below(2 + 4000 / rows[worker])));
      reference.Report(id);
      const std::int64_t now = driver.Ask(id);
      ASSERT_EQ(now, reference.Ask(driver.worker(id), driver.workers())) << "report " << i;
      changes += now != std::exchange(rows[worker], now) ? 1 : 0;
    }
    EXPECT_GT(changes, 100);  // there was something to compare
  }
}

}  // namespace
}  // namespace hogbatch
