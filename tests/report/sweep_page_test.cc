#include "report/sweep_page.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace hogbatch::report {
namespace {

using testing::HasSubstr;
using testing::Not;

SweepView SweepOf(std::size_t trials) {
  SweepView sweep{.data = "mine.csv",
                  .search = "grid",
                  .metric = "accuracy",
                  .status = "all done",
                  .options = {"lr"},
                  .command = "hogbatch train"};
  for (std::size_t i = 0; i < trials; ++i) {
    const auto loss = 0.1 + 0.01 * static_cast<double>(i);
    sweep.trials.push_back({.name = fmt::format("trial {}", i + 1),
                            .state = "done",
                            .epoch = 2,
                            .seconds = 1,
                            .values = {fmt::format("{}", i + 1)},
                            .epochs = {0, 1, 2},
                            .losses = {1, loss, loss},
                            .loss = loss,
                            .metric = 0.9});
  }
  return sweep;
}

std::size_t Occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(SweepPage, ShowsCurvesEffectsAndAllTrials) {
  const std::string page = SweepPage(SweepOf(5));
  for (const char* part : {"Sweep of 5 trials", "Validation loss of all trials", "Effect of lr",
                           "All trials", "trial 5", "hogbatch train"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
  EXPECT_THAT(page, Not(HasSubstr("trials.csv has all of them")));
}

TEST(SweepPage, ShowsTextsOfTheUserAsTexts) {
  SweepView sweep = SweepOf(5);
  sweep.data = "<script>alert(1)</script>.csv";
  sweep.options = {"init"};
  for (SweptTrial& trial : sweep.trials) trial.values = {"\"<b>&" + trial.name};
  sweep.command = "hogbatch train '<img src=x>'";
  const std::string page = SweepPage(sweep);
  EXPECT_THAT(page, Not(HasSubstr("<script>alert(1)")));
  EXPECT_THAT(page, Not(HasSubstr("<b>&")));
  EXPECT_THAT(page, Not(HasSubstr("<img src=x>")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(1)"));
}

TEST(SweepPage, IsMadeOfTrialsWithoutAnyLoss) {
  SweepView sweep = SweepOf(5);
  for (SweptTrial& trial : sweep.trials) {
    trial.loss = trial.metric = NAN;
    trial.losses = {NAN, INFINITY, NAN};
  }
  for (const std::string& page : {SweepPage(sweep), SweepPicture(sweep)}) {
    EXPECT_THAT(page, Not(HasSubstr("nan")));
    EXPECT_THAT(page, Not(HasSubstr(">inf")));
  }
}

TEST(SweepPage, DrawsTheBestOfManyCurvesAndSaysSo) {
  const std::string page = SweepPage(SweepOf(2000)), few = SweepPicture(SweepOf(200));
  EXPECT_THAT(page, HasSubstr("The best 200 of 2,000 trials; trials.csv has all of them."));
  EXPECT_THAT(page, HasSubstr("The best 500 of 2,000 trials"));
  EXPECT_THAT(page, HasSubstr("Validation loss of the best 200 trials"));
  EXPECT_EQ(Occurrences(SweepPicture(SweepOf(2000)), "<path"), Occurrences(few, "<path"));
}

}  // namespace
}  // namespace hogbatch::report
