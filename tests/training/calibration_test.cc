#include "training/calibration/calibration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <stdexcept>

#include "tests/support/process.h"

namespace hogbatch {
namespace {

using testing::ElementsAre;

constexpr double kNever = std::numeric_limits<double>::infinity();

// A GPU that needs so long for an update and for each of its rows.
SecondsPerUpdate Gpu(double per_update, double per_row) {
  return [=](std::int64_t rows) { return per_update + per_row * static_cast<double>(rows); };
}

std::vector<std::int64_t> Sizes(const Rates& rates) {
  std::vector<std::int64_t> sizes;
  for (const RateAt& rate : rates.at) sizes.push_back(rate.rows);
  return sizes;
}

TEST(MeasureRates, DoublesTheRowsUpToTheLimit) {
  const Rates rates = MeasureRates(300, Gpu(1e-3, 1e-9));
  EXPECT_THAT(Sizes(rates), ElementsAre(4, 8, 16, 32, 64, 128, 256));
  EXPECT_NEAR(rates.at[3].rows_per_second, 32 / (1e-3 + 32e-9), 1e-6);
  EXPECT_FALSE(rates.settled);
  EXPECT_EQ(rates.limit, 300);
}

TEST(MeasureRates, TriesFewerRowsThanUsualWhereNoMoreAreAllowed) {
  EXPECT_THAT(Sizes(MeasureRates(5, Gpu(1e-3, 1e-6))), ElementsAre(4));
  EXPECT_THAT(Sizes(MeasureRates(3, Gpu(1e-3, 1e-6))), ElementsAre(3));
  EXPECT_THAT(Sizes(MeasureRates(0, Gpu(1e-3, 1e-6))), ElementsAre());
}

TEST(MeasureRates, EndsWhereTheRateNoLongerGrows) {
  const Rates rates = MeasureRates(1 << 20, Gpu(0, 1e-6));
  EXPECT_THAT(Sizes(rates), ElementsAre(4, 8, 16, 32));
  EXPECT_TRUE(rates.settled);
}

TEST(MeasureRates, GoesOnBeyondASizeThatHappensToBeSlow) {
  const Rates rates =
      MeasureRates(1024, [](std::int64_t rows) { return rows == 32 || rows == 64 ? 3e-3 : 1e-3; });
  EXPECT_THAT(Sizes(rates), ElementsAre(4, 8, 16, 32, 64, 128, 256, 512, 1024));
}

TEST(MeasureRates, EndsBeforeUpdatesThatWouldTakeTooLong) {
  const Rates rates = MeasureRates(1 << 20, Gpu(0.03, 1e-3));
  EXPECT_THAT(Sizes(rates),
              ElementsAre(4, 8, 16, 32, 64, 128));  // 158 ms, and the next more than 250
  EXPECT_TRUE(rates.settled);
}

TEST(MeasureRates, EndsWhenNothingMoreIsToBeTimed) {
  const Rates rates =
      MeasureRates(1 << 20, [](std::int64_t rows) { return rows < 64 ? 1e-3 : kNever; });
  EXPECT_THAT(Sizes(rates), ElementsAre(4, 8, 16, 32));
  EXPECT_FALSE(rates.settled);
}

TEST(MeasureRates, TakesTheBetterOfTwoLooks) {
  int looks = 0;
  const Rates rates = MeasureRates(128, [&](std::int64_t rows) {
    const bool disturbed = rows == 64 && ++looks == 1;
    return disturbed ? 0.05 : 1e-3;
  });
  EXPECT_EQ(looks, 2);
  ASSERT_THAT(Sizes(rates), ElementsAre(4, 8, 16, 32, 64, 128));
  EXPECT_NEAR(rates.at[4].rows_per_second, 64 / 1e-3, 1e-6);
}

TEST(MeasureRates, GoesOnWhereASecondLookShowsThatTheRateStillGrew) {
  std::int64_t calls = 0;
  const Rates rates = MeasureRates(256, [&](std::int64_t rows) {
    const bool disturbed = ++calls <= 4 && rows > 4;
    return disturbed ? 8e-3 : 1e-3;
  });
  EXPECT_THAT(Sizes(rates), ElementsAre(4, 8, 16, 32, 64, 128, 256));
  EXPECT_FALSE(rates.settled);
}

TEST(MeasureRates, SurvivesAClockThatSeesNothingPass) {
  for (const RateAt& rate : MeasureRates(64, Gpu(0, 0)).at) {
    EXPECT_TRUE(std::isfinite(rate.rows_per_second));
  }
}

TEST(FindLowerBound, IsTheSmallestSizeThatReachesItsShareOfTheBestRate) {
  // Half of the highest rate there can be is reached at 1000 rows, where rows take as long as the
  // update itself.
  const Rates rates = MeasureRates(1 << 14, Gpu(1e-3, 1e-6));
  ASSERT_EQ(rates.at.back().rows, 1 << 14);
  const auto rows = [&](double utilization) {
    return FindLowerBound(rates, 1 << 14, utilization)->rows;
  };
  EXPECT_EQ(rows(0.5), 1024);
  EXPECT_EQ(rows(0.25), 512);
  EXPECT_EQ(rows(0.01), 16);
  EXPECT_EQ(rows(1), 1 << 14);
  EXPECT_EQ(FindLowerBound(rates, 1 << 14, 0.5)->best.rows, 1 << 14);
}

TEST(FindLowerBound, LooksAtNoSizeBeyondTheLimit) {
  const Rates rates = MeasureRates(1 << 14, Gpu(1e-3, 1e-6));
  const std::optional<LowerBound> bound = FindLowerBound(rates, 100, 1);
  ASSERT_TRUE(bound);
  EXPECT_EQ(bound->rows, 64);
  EXPECT_EQ(bound->best.rows, 64);
  EXPECT_FALSE(FindLowerBound(rates, 3, 0.5));
  EXPECT_FALSE(FindLowerBound({}, 100, 0.5));
}

class CalibrateAGpu : public testing::Test {
 protected:
  Calibration Run(std::int64_t limit, SecondsPerUpdate seconds, double utilization = 0.5) {
    return Calibrate({.key = "a GPU",
                      .limit = limit,
                      .utilization = utilization,
                      .make_timer =
                          [&] {
                            ++timers_;
                            return seconds;
                          }},
                     CalibrationCache(folder_.path() + "/cache"));
  }

  TemporaryFolder folder_;
  int timers_ = 0;
};

TEST_F(CalibrateAGpu, TimesItOnceAndRemembers) {
  const Calibration first = Run(8192, Gpu(1e-3, 1e-6));
  ASSERT_TRUE(first.bound);
  EXPECT_EQ(first.bound->rows, 1024);
  EXPECT_FALSE(first.cached);
  const Calibration second = Run(8192, Gpu(1, 1));
  ASSERT_TRUE(second.bound);
  EXPECT_EQ(second.bound->rows, 1024);
  EXPECT_DOUBLE_EQ(second.bound->best.rows_per_second, first.bound->best.rows_per_second);
  EXPECT_TRUE(second.cached);
  EXPECT_EQ(timers_, 1);
}

TEST_F(CalibrateAGpu, AsksWhatItRemembersForAnotherShareOrFewerRows) {
  Run(8192, Gpu(1e-3, 1e-6));
  EXPECT_EQ(Run(8192, Gpu(1, 1), 0.25).bound->rows, 512);
  EXPECT_EQ(Run(700, Gpu(1, 1), 1).bound->rows, 512);
  EXPECT_EQ(timers_, 1);
}

TEST_F(CalibrateAGpu, TimesItAgainForMoreRowsThanWereAllowedBefore) {
  EXPECT_EQ(Run(128, Gpu(1e-3, 1e-6)).bound->rows, 64);
  EXPECT_EQ(Run(8192, Gpu(1e-3, 1e-6)).bound->rows, 1024);
  EXPECT_EQ(timers_, 2);
  // Unless they would have told nothing new.
  Run(1 << 14, Gpu(0, 1e-6));
  const int before = timers_;
  EXPECT_TRUE(Run(1 << 15, Gpu(0, 1e-6)).cached);
  EXPECT_EQ(timers_, before);
}

TEST_F(CalibrateAGpu, MakesAFailureASentenceAndRemembersNothingOfIt) {
  const Calibration failed = Run(8192, [](std::int64_t rows) -> double {
    if (rows > 64) throw std::runtime_error("the device is lost");
    return 1e-3;
  });
  EXPECT_FALSE(failed.bound);
  EXPECT_EQ(failed.failure, "the device is lost");
  EXPECT_FALSE(Run(8192, [](std::int64_t) { return kNever; }).bound);
  EXPECT_FALSE(Run(8192, Gpu(1e-3, 1e-6)).cached);
}

TEST_F(CalibrateAGpu, UsesButDoesNotKeepWhatWasBrokenOff) {
  const auto short_of_memory = [](std::int64_t rows) { return rows > 64 ? kNever : 1e-3; };
  EXPECT_EQ(Run(8192, short_of_memory).bound->rows, 32);
  EXPECT_FALSE(Run(8192, Gpu(1e-3, 1e-6)).cached);
}

}  // namespace
}  // namespace hogbatch
