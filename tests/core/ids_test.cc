#include "core/ids.h"

#include <gtest/gtest.h>

namespace hogbatch {
namespace {

TEST(Part, CoversARangeWithoutGapsInNearlyEqualPieces) {
  const RowRange rows{7, 107};
  for (const std::int64_t parts : {1, 2, 3, 7, 100}) {
    std::int64_t next = rows.begin;
    for (std::int64_t i = 0; i < parts; ++i) {
      const RowRange part = Part(rows, i, parts);
      EXPECT_EQ(part.begin, next);
      EXPECT_GE(part.size(), 100 / parts);
      EXPECT_LE(part.size(), 100 / parts + 1);
      next = part.end;
    }
    EXPECT_EQ(next, rows.end);
  }
}

}  // namespace
}  // namespace hogbatch
