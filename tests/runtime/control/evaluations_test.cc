#include "runtime/control/evaluations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace hogbatch {
namespace {

// The rows of each split that an evaluation asks for.
std::map<Split, RowRange> RowsOf(SplitRows rows) {
  Evaluations evaluations(rows);
  evaluations.Begin(0);
  std::map<Split, RowRange> asked;
  evaluations.Finish(*evaluations.Next(), {});
  while (const auto task = evaluations.Next()) {
    const auto [split, is_new] = asked.emplace(task->split, task->rows);
    if (is_new) continue;
    split->second.begin = std::min(split->second.begin, task->rows.begin);
    split->second.end = std::max(split->second.end, task->rows.end);
  }
  return asked;
}

TEST(Evaluations, CoverAllRows) {
  const auto rows = RowsOf({.train = 5000, .valid = 300, .test = 20});
  EXPECT_EQ(rows.at(Split::kTrain), (RowRange{0, 5000}));
  EXPECT_EQ(rows.at(Split::kValid), (RowRange{5000, 5300}));
  EXPECT_EQ(rows.at(Split::kTest), (RowRange{0, 20}));
}

TEST(Evaluations, MayLeaveTrainingRowsOut) {
  const auto rows = RowsOf({.train = 5000, .valid = 300, .evaluated_train = 2500});
  EXPECT_EQ(rows.at(Split::kTrain), (RowRange{0, 2500}));
  EXPECT_EQ(rows.at(Split::kValid), (RowRange{5000, 5300})) << "where they were";
}

}  // namespace
}  // namespace hogbatch
