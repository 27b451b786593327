#include "training/sweep/fold_means.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/text.h"

namespace hogbatch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

TEST(FoldSpread, HasTheDeviationOfASample) {
  const std::vector<double> values = {2, 4, 4, 4, 5, 5, 7, 9};
  const FoldSpread spread = FoldSpreadOf(values);
  EXPECT_DOUBLE_EQ(spread.mean, 5);
  EXPECT_DOUBLE_EQ(spread.deviation, std::sqrt(32.0 / 7));
  EXPECT_EQ(spread.lowest, 2);
  EXPECT_EQ(spread.highest, 9);
  EXPECT_TRUE(std::isnan(FoldSpreadOf(std::span(values).first(1)).deviation));
  EXPECT_TRUE(std::isnan(FoldSpreadOf({}).mean));
}

// Settings of three folds each, with these losses. An unfinished one is below 0.
class Folds {
 public:
  explicit Folds(const std::vector<double>& losses) {
    for (std::size_t i = 0; i < losses.size(); ++i) {
      Trial trial{.values = {{"lr", std::to_string(i / 3)}, {"fold", "x"}}};
      trial.fold = i % 3;
      trials_.push_back(trial);
      TrialResult result;
      result.state = losses[i] < 0 ? TrialState::kRunning : TrialState::kDone;
      const double unknown = std::nan("");
      result.curve.push_back({.epoch = 1,
                              .valid_loss = std::abs(losses[i]),
                              .valid_metric = 0.5,
                              .test_loss = unknown,
                              .test_metric = unknown});
      results_.push_back(result);
    }
  }
  TrialResult& operator[](std::size_t trial) { return results_[trial]; }
  SweepResults all() const {
    return {.metric = "accuracy", .trials = trials_, .results = results_};
  }
  std::vector<std::size_t> Order() const {
    std::vector<std::size_t> order;
    for (const FoldMeans& means : MeansOfFolds(all())) order.push_back(means.setting);
    return order;
  }

 private:
  std::vector<Trial> trials_;
  std::vector<TrialResult> results_;
};

TEST(FoldMeans, ComeInTheOrderOfTheirLossesIfAllFoldsHaveEnded) {
  Folds folds({3, 3, 3, 1, 2, 3, -0.1, -0.1, -0.1, 0.5, 0.5, 0.5});
  EXPECT_THAT(folds.Order(), ElementsAre(3, 1, 0, 2)) << "the third setting may still get worse";
  folds[9].state = TrialState::kDiverged;
  EXPECT_THAT(folds.Order(), ElementsAre(1, 0, 2, 3));
  const FoldMeans diverged = MeansOfFolds(folds.all()).back();
  EXPECT_EQ(diverged.folds, 2u);
  EXPECT_FALSE(diverged.is_complete);
  EXPECT_EQ(MeansOfFolds(folds.all()).front().valid_loss.mean, 2);
}

TEST(FoldMeans, HaveALineEach) {
  Folds folds({3, 3, 3, 1, 2, 3});
  folds[0].state = folds[1].state = folds[2].state = TrialState::kFailed;
  const std::vector<std::string> lines = SplitLines(FoldsCsv(folds.all()));
  ASSERT_THAT(lines, SizeIs(3));
  EXPECT_THAT(lines[0], HasSubstr("setting,folds,lr,valid_loss_mean,valid_loss_deviation,"));
  EXPECT_TRUE(lines[1].starts_with("2,3,1,2,1,1,3,0.5,0,0.5,0.5,,")) << lines[1];
  EXPECT_TRUE(lines[2].starts_with("1,0,0,,,,,")) << lines[2];
}

}  // namespace
}  // namespace hogbatch
