// The published rule of Adaptive Hogbatch, and the whole algorithm with --adapt-band 0, beside an
// independent statement of that rule. Nothing here knows of damping.
//
// On a request of team E, u counting updates and b being the batch size:
//   if u_E < min(u of the others): b_E = max(b_E / alpha, smallest b of E)
//   if u_E > max(u of the others): b_E = min(b_E * alpha, largest b of E)
// and an update of a CPU thread counts beta. hogbatch applies it once all of a team's workers have
// reported. adaptive_rule.h says how well the rule is known.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "algorithms/adaptive_options.h"
#include "algorithms/adaptive_rule.h"
#include "core/random.h"
#include "tests/algorithms/algorithm_driver.h"

namespace hogbatch {
namespace {

TEST(PublishedRule, ShrinksTheLastGrowsTheFirstAndLeavesTheRest) {
  const std::vector<double> others = {5, 9};
  EXPECT_EQ(PublishedRule(4, others, 0), Change::kShrink);
  EXPECT_EQ(PublishedRule(5, others, 0), Change::kStay);
  EXPECT_EQ(PublishedRule(7, others, 0), Change::kStay);
  EXPECT_EQ(PublishedRule(9, others, 0), Change::kStay);
  EXPECT_EQ(PublishedRule(10, others, 0), Change::kGrow);
}

TEST(PublishedRule, TakesCountsWithinTheBandAsEven) {
  const std::vector<double> other = {10};
  EXPECT_EQ(PublishedRule(8, other, 2), Change::kStay);
  EXPECT_EQ(PublishedRule(12, other, 2), Change::kStay);
  EXPECT_EQ(PublishedRule(7.9, other, 2), Change::kShrink);
  EXPECT_EQ(PublishedRule(12.1, other, 2), Change::kGrow);
}

TEST(PublishedRule, ComparesWithEveryOtherTeam) {
  Random random(3);
  for (int i = 0; i < 10000; ++i) {
    const auto team = static_cast<double>(random.Below(8));
    std::vector<double> others(1 + random.Below(4));
    int ahead_of = 0, behind = 0;
    for (double& other : others) {
      other = static_cast<double>(random.Below(8));
      ahead_of += team > other ? 1 : 0;
      behind += team < other ? 1 : 0;
    }
    const int all = static_cast<int>(others.size());
    const Change expected = behind == all     ? Change::kShrink
                            : ahead_of == all ? Change::kGrow
                                              : Change::kStay;
    ASSERT_EQ(PublishedRule(team, others, 0), expected);
  }
}

// The statement above, for teams that lose no worker. Team 0 is CPU threads, each other a GPU.
class Reference {
 public:
  Reference(std::size_t teams, const AlgorithmOptions& options)
      : options_(options),
        own_(options.own.as<AdaptiveOptions>()),
        rows_(teams, double(options.gpu_batch.min)) {
    rows_[0] = 16;
  }

  void Report(WorkerId worker) { waiting_.push_back(worker); }

  std::int64_t Ask(TeamId team, const std::vector<WorkerState>& workers) {
    double& rows = rows_[std::size_t(team)];
    if (!AllHaveReported(team, workers)) return std::llround(rows);
    std::erase_if(waiting_, [&](WorkerId id) { return workers[std::size_t(id)].team == team; });

    std::vector<double> u(rows_.size());
    for (const WorkerState& worker : workers) {
      u[std::size_t(worker.team)] += (worker.team == 0 ? own_.beta : 1) * double(worker.updates);
    }
    const double own = u[std::size_t(team)];
    u.erase(u.begin() + std::ptrdiff_t(std::size_t(team)));
    const BatchRange& range = team == 0 ? options_.cpu_batch : options_.gpu_batch;
    if (own < *std::min_element(u.begin(), u.end())) {
      rows = std::max(rows / own_.alpha, double(range.min));
    } else if (own > *std::max_element(u.begin(), u.end())) {
      rows = std::min(rows * own_.alpha, double(range.max));
    }
    return std::llround(rows);
  }

 private:
  bool AllHaveReported(TeamId team, const std::vector<WorkerState>& workers) const {
    return std::ranges::all_of(workers, [&](const WorkerState& worker) {
      return worker.team != team || std::ranges::find(waiting_, worker.id) != waiting_.end();
    });
  }

  AlgorithmOptions options_;
  AdaptiveOptions own_;
  std::vector<double> rows_;       // of each team
  std::vector<WorkerId> waiting_;  // have reported since their team was last changed or left
};

TEST(AdaptiveHogbatch, FollowsThePublishedRuleWithoutABand) {
  for (const double alpha : {2.0, 1.3}) {
    const AlgorithmOptions options{
        .cpu_batch = {1, 1024},
        .gpu_batch = {16, 8192},
        .own = AdaptiveOptions{.alpha = alpha, .beta = 0.75, .adapt_band = 0}};
    AlgorithmDriver driver(3, 2, options);
    Reference reference(3, options);
    Random random(7);
    std::vector<std::int64_t> rows;
    for (const WorkerState& worker : driver.workers()) rows.push_back(driver.Ask(worker.id));
    int changes = 0;
    for (int i = 0; i < 20000; ++i) {
      const auto worker = static_cast<std::size_t>(random.Below(5));
      const auto id = static_cast<WorkerId>(worker);
      // The fewer rows an update has, the more updates a task. Speeds must not matter.
      driver.Report(id, static_cast<int>(random.Below(2 + 4000 / rows[worker])), rows[worker],
                    static_cast<double>(1 + random.Below(1000)));
      reference.Report(id);
      const std::int64_t now = driver.Ask(id);
      ASSERT_EQ(now, reference.Ask(driver.worker(id).team, driver.workers())) << "report " << i;
      changes += now != std::exchange(rows[worker], now) ? 1 : 0;
    }
    EXPECT_GT(changes, 100);  // there was something to compare
  }
}

}  // namespace
}  // namespace hogbatch
