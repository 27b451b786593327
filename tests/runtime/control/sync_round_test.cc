#include "runtime/control/sync_round.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace hogbatch {
namespace {

// Workers 0, 1, 2, of which `failed` is not live.
std::vector<WorkerState> ThreeWorkers(WorkerId failed = -1) {
  std::vector<WorkerState> workers;
  for (int i = 0; i < 3; ++i) workers.push_back({.id = i, .device = {}, .live = failed != i});
  return workers;
}

// A round of which all gradients are held.
SyncRound Gathered() {
  SyncRound round;
  for (int i = 0; i < 3; ++i) round.OnSent();
  for (int i = 0; i < 3; ++i) round.OnGradient(10);
  return round;
}

TEST(SyncRound, IsGatheredWhenTheLastGradientIsHeld) {
  SyncRound round;
  EXPECT_FALSE(round.open());
  round.OnSent();
  round.OnSent();
  EXPECT_TRUE(round.open());
  round.OnGradient(10);
  EXPECT_FALSE(round.gathered());
  round.OnGradient(7);
  EXPECT_TRUE(round.gathered());
  EXPECT_EQ(round.rows(), 17);
}

TEST(SyncRound, GoesOnWithoutTheGradientOfAWorkerThatFailed) {
  SyncRound round;
  round.OnSent();
  round.OnSent();
  round.OnGradient(10);
  round.OnLost();
  EXPECT_TRUE(round.gathered());
  EXPECT_EQ(round.rows(), 10);
}

TEST(SyncRound, IsOverWhenEveryLiveWorkerHasAppliedItsSlice) {
  SyncRound round = Gathered();
  round.MakeSlices({.kind = TaskKind::kApply, .rows = {}}, ThreeWorkers(1));
  EXPECT_FALSE(round.gathered());
  EXPECT_TRUE(round.applying());
  EXPECT_FALSE(round.NextSlice(1));
  std::set<std::int32_t> slices;
  for (const WorkerId worker : {0, 2}) {
    const std::optional<Task> slice = round.NextSlice(worker);
    ASSERT_TRUE(slice);
    EXPECT_EQ(slice->slices, 2);
    slices.insert(slice->slice);
    EXPECT_FALSE(round.NextSlice(worker));
  }
  EXPECT_EQ(slices, (std::set<std::int32_t>{0, 1}));
  EXPECT_FALSE(round.OnApplied());
  EXPECT_TRUE(round.OnApplied());
  EXPECT_FALSE(round.open());
  EXPECT_EQ(round.number(), 1);
}

TEST(SyncRound, LetsASuccessorApplyTheSliceOfAWorkerThatFailed) {
  SyncRound round = Gathered();
  round.MakeSlices({.kind = TaskKind::kApply, .rows = {}}, ThreeWorkers());
  Task lost = *round.NextSlice(1);
  lost.id = 5;
  round.ReturnSlice(lost);
  round.Reassign(1, 0);
  const Task own = *round.NextSlice(0);
  const std::optional<Task> inherited = round.NextSlice(0);
  ASSERT_TRUE(inherited);
  EXPECT_NE(inherited->slice, own.slice);
  EXPECT_EQ(inherited->slice, lost.slice);
  EXPECT_EQ(inherited->id, 0) << "it is a new task";
}

TEST(SyncRound, LosesItsRowsWhenNoWorkerIsLeft) {
  SyncRound round = Gathered();
  EXPECT_EQ(round.Abandon(), 30);
  EXPECT_FALSE(round.open());
}

}  // namespace
}  // namespace hogbatch
