#include "core/text.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace hogbatch {
namespace {

TEST(ParseDuration, KnowsSecondsMinutesAndHours) {
  EXPECT_EQ(ParseDuration("--t", "90"), 90);
  EXPECT_EQ(ParseDuration("--t", "90s"), 90);
  EXPECT_EQ(ParseDuration("--t", "5m"), 300);
  EXPECT_EQ(ParseDuration("--t", "1.5h"), 5400);
  for (const char* bad : {"", "s", "-1", "0", "1d", "inf", "nan", "5 m"}) {
    EXPECT_THROW(ParseDuration("--t", bad), UserError) << bad;
  }
}

}  // namespace
}  // namespace hogbatch
