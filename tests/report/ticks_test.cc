#include "report/ticks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hogbatch::report {
namespace {

using testing::ElementsAre;

std::vector<std::string> Labels(Axis axis, double from, double to, int wanted) {
  std::vector<std::string> labels;
  for (const Tick& tick : MakeTicks(axis, from, to, wanted).ticks) labels.push_back(tick.label);
  return labels;
}

TEST(Ticks, StandAtRoundValues) {
  EXPECT_THAT(Labels(Axis::kLinear, 0, 10, 5), ElementsAre("0", "2", "4", "6", "8", "10"));
  EXPECT_THAT(Labels(Axis::kLinear, 0.38, 0.62, 5),
              ElementsAre("0.40", "0.45", "0.50", "0.55", "0.60"));
  EXPECT_THAT(Labels(Axis::kLinear, -1, 1, 4), ElementsAre("-1.0", "-0.5", "0", "0.5", "1.0"));
}

TEST(Ticks, OfLargeValuesHaveOneUnit) {
  EXPECT_THAT(Labels(Axis::kLinear, 0, 200000, 4), ElementsAre("0", "50k", "100k", "150k", "200k"));
  EXPECT_THAT(Labels(Axis::kLinear, 0, 1.5e6, 3), ElementsAre("0", "0.5M", "1.0M", "1.5M"));
}

TEST(Ticks, OfTimeCountInTheUnitAReaderThinksIn) {
  EXPECT_EQ(MakeTicks(Axis::kTime, 0, 100, 5).unit, "s");
  EXPECT_EQ(MakeTicks(Axis::kTime, 0, 900, 5).unit, "min");
  EXPECT_EQ(MakeTicks(Axis::kTime, 0, 9000, 5).unit, "h");
  EXPECT_EQ(MakeTicks(Axis::kTime, 0, 9e5, 5).unit, "days");
  EXPECT_THAT(Labels(Axis::kTime, 0, 7200, 4), ElementsAre("0", "0.5", "1", "1.5", "2"));
  EXPECT_DOUBLE_EQ(MakeTicks(Axis::kTime, 0, 7200, 4).ticks[1].value, 1800);
  EXPECT_THAT(Labels(Axis::kTime, 0, 10800, 10),
              ElementsAre("0", "0.25", "0.5", "0.75", "1", "1.25", "1.5", "1.75", "2", "2.25",
                          "2.5", "2.75", "3"));
  EXPECT_THAT(Labels(Axis::kTime, 0, 3000, 4), ElementsAre("0", "10", "20", "30", "40", "50"));
}

TEST(Ticks, OfALogarithmicAxisArePowersOfTenOrBetweenThem) {
  EXPECT_THAT(Labels(Axis::kLog, 0.001, 1000, 4), ElementsAre("0.01", "1", "100"));
  EXPECT_THAT(Labels(Axis::kLog, 1, 100, 5), ElementsAre("1", "2", "5", "10", "20", "50", "100"));
  EXPECT_GE(Labels(Axis::kLog, 0.5, 0.9, 5).size(), 3u) << "less than a decade has ticks, too";
}

// Whatever the bounds: some ticks, not too many, all inside and rising.
TEST(Ticks, AreFewAndInsideForAnyBounds) {
  for (const Axis axis : {Axis::kLinear, Axis::kLog, Axis::kTime}) {
    for (const double from : {1e-12, 1e-3, 0.37, 1.0, 12345.6, 9.9e14}) {
      for (const double factor : {1.001, 1.5, 9.0, 1e4, 1e12}) {
        const double to = from * factor;
        const std::vector<Tick> ticks = MakeTicks(axis, from, to, 6).ticks;
        EXPECT_GE(ticks.size(), 1u) << from << " " << to;
        EXPECT_LE(ticks.size(), 20u) << from << " " << to;
        double before = -std::numeric_limits<double>::infinity();
        for (const Tick& tick : ticks) {
          EXPECT_GT(tick.value, before);
          EXPECT_GE(tick.value, from - 1e-5 * (to - from) - 1e-9 * from);
          EXPECT_LE(tick.value, to + 1e-5 * (to - from) + 1e-9 * to);
          before = tick.value;
        }
      }
    }
  }
}

TEST(ShortNumber, HasFourDigitsAtMost) {
  EXPECT_EQ(ShortNumber(0.53011), "0.5301");
  EXPECT_EQ(ShortNumber(1234), "1234");
  EXPECT_EQ(ShortNumber(12345), "12.3k");
  EXPECT_EQ(ShortNumber(999999), "1M");
  EXPECT_EQ(ShortNumber(4.56e9), "4.56G");
  EXPECT_EQ(ShortNumber(-12345), "-12.3k");
  EXPECT_EQ(ShortNumber(0), "0");
  EXPECT_EQ(ShortNumber(1e-7), "1e-07");
  EXPECT_EQ(ShortNumber(std::nan("")), "–");
}

}  // namespace
}  // namespace hogbatch::report
