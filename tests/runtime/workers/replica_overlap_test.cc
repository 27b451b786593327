// Two updates of one worker under way at once on a device that does not share host memory, and what
// it does when memory is short.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/runtime/workers/replica_harness.h"

namespace hogbatch {
namespace {

struct OverlapCase {
  std::string optimizer = "sgd";
  double momentum = 0;
  double decay = 0;
  std::int64_t nonzeros = 0;
};

std::vector<OverlapCase> AllCases() {
  std::vector<OverlapCase> cases;
  for (const std::int64_t nonzeros : {0, 5}) {
    for (const double decay : {0.0, 0.1}) {
      cases.push_back({"sgd", 0, decay, nonzeros});
      cases.push_back({"sgd", 0.5, decay, nonzeros});
      cases.push_back({"adam", 0, decay, nonzeros});
    }
  }
  return cases;
}

void Set(const OverlapCase& c, ReplicaHarness& harness) {
  harness.memory.optimizer.optimizer = c.optimizer;
  harness.memory.optimizer.weight_decay = c.decay;
  harness.memory.explicit_momentum = c.momentum;
}

Task Update(std::int64_t number, std::int64_t rows = 16) {
  return {.id = number + 1, .rows = {number * rows, (number + 1) * rows}, .learning_rate = 0.1f};
}

// Computes every update before the one ahead of it is committed; calls `between` after each Commit.
template <typename F>
void Overlap(ReplicaHarness& harness, int updates, F between) {
  for (int i = 0; i < updates; ++i) {
    harness.worker().Compute(Update(i), 0);
    if (i > 0) {
      harness.worker().Commit(Update(i - 1), 0);
      between(i);
    }
  }
  harness.worker().Commit(Update(updates - 1), 0);
}

TEST(ReplicaOverlap, SeesItsOwnUpdatesBeforeTheyAreMerged) {
  for (const OverlapCase& c : AllCases()) {
    SCOPED_TRACE(c.optimizer + " nonzeros " + std::to_string(c.nonzeros));
    ReplicaHarness one_by_one(c.nonzeros), overlapped(c.nonzeros, 2);
    Set(c, one_by_one);
    Set(c, overlapped);
    for (int i = 0; i < 7; ++i) one_by_one.Do(Update(i));
    Overlap(overlapped, 7, [](int) {});
    ExpectNear(overlapped.Model(), one_by_one.Model());
  }
}

TEST(ReplicaOverlap, AddsNoUpdateTwiceWhenSomeAreMergedBeforeTheNextIsRead) {
  for (const std::int64_t nonzeros : {0, 5}) {
    ReplicaHarness one_by_one(nonzeros), mixed(nonzeros, 2);
    for (int i = 0; i < 6; ++i) one_by_one.Do(Update(i));
    Overlap(mixed, 3, [](int) {});
    mixed.Do(Update(3));
    mixed.worker().Compute(Update(4), 0);
    mixed.worker().Compute(Update(5), 0);
    mixed.worker().Commit(Update(4), 0);
    mixed.worker().Commit(Update(5), 0);
    ExpectNear(mixed.Model(), one_by_one.Model());
  }
}

TEST(ReplicaOverlap, KeepsWhatOthersWroteMeanwhile) {
  for (const std::int64_t nonzeros : {0, 5}) {
    // What others write must not change the gradients, or the two runs could not be compared.
    ReplicaHarness alone(nonzeros, 2), together(nonzeros, 2);
    Overlap(alone, 2, [](int) {});
    Overlap(together, 2, [&](int) {
      for (float& w : together.memory.store.idle_weights()) w += 1;
    });
    std::vector<float> expected = alone.Model();
    for (float& w : expected) w += 1;
    ExpectNear(together.Model(), expected);
  }
}

TEST(ReplicaOverlap, WaitsForNoMoreThanItMerges) {
  ReplicaHarness harness(5, 2);
  for (int i = 0; i < 2; ++i) harness.Do(Update(i, 64));
  const std::int64_t waits = harness.use->waits;
  harness.worker().Compute(Update(0), 0);
  for (int i = 1; i < 5; ++i) {
    harness.worker().Compute(Update(i), 0);
    harness.worker().Commit(Update(i - 1), 0);
  }
  EXPECT_EQ(harness.use->waits, waits);
}

TEST(ReplicaOverlap, CountsTheLossesOfEachTaskOnItsOwn) {
  ReplicaHarness one_by_one(0), overlapped(0, 2);
  const double first = one_by_one.Do(Update(0)).loss_sum;
  const double second = one_by_one.Do(Update(1, 24)).loss_sum;
  overlapped.worker().Compute(Update(0), 0);
  overlapped.worker().Compute(Update(1, 24), 0);
  overlapped.worker().Commit(Update(0), 0);
  EXPECT_NEAR(overlapped.worker().Finish(Update(0)).loss_sum, first, 1e-5);
  overlapped.worker().Commit(Update(1, 24), 0);
  EXPECT_NEAR(overlapped.worker().Finish(Update(1, 24)).loss_sum, second, 1e-4);
}

TEST(ReplicaOverlap, DoesNotCallItsOwnMergesStale) {
  ReplicaHarness harness(0, 2);
  Overlap(harness, 4, [&](int) { ++harness.memory.merges.merges; });
  const StalenessHistogram staleness = harness.worker().Finish(Update(3)).staleness;
  // The first two were read before anybody else merged and the first merged before that, too.
  EXPECT_EQ(staleness.merges[0], 1);
  EXPECT_EQ(staleness.merges[1], 3);
}

// Peak memory of updates of `rows` rows.
std::int64_t Peak(std::int64_t nonzeros, std::int64_t rows) {
  ReplicaHarness harness(nonzeros, 2);
  harness.Do(Update(0, rows));
  harness.Do(Update(1, rows));
  return harness.use->peak_bytes;
}

TEST(ReplicaOverlap, HalvesABatchThatMemoryIsTooShortFor) {
  for (const std::int64_t nonzeros : {0, 5}) {
    ReplicaHarness harness(nonzeros, 2);
    harness.use->limit_bytes = Peak(nonzeros, 64);
    const std::vector<float> before = harness.Model();
    harness.worker().Compute(Update(0, 16), 0);  // stays under way meanwhile
    harness.worker().Compute({.id = 9, .rows = {200, 456}, .learning_rate = 0.1f}, 0);
    harness.worker().Commit(Update(0, 16), 0);
    EXPECT_EQ(harness.worker().Finish(Update(0, 16)).updates, 1);
    harness.worker().Commit({.id = 9, .rows = {200, 456}, .learning_rate = 0.1f}, 0);
    const Report report = harness.worker().Finish({.id = 9, .rows = {200, 456}});
    EXPECT_GE(report.updates, 4);
    EXPECT_LE(report.max_batch_size, 64);
    EXPECT_GE(report.max_batch_size, 32);
    EXPECT_GT(report.loss_sum, 0);
    EXPECT_NE(harness.Model(), before);
    EXPECT_FALSE(harness.worker().merge_is_torn());
    for (const float w : harness.Model()) ASSERT_TRUE(std::isfinite(w));
  }
}

TEST(ReplicaOverlap, LearnsAsMuchInPartsAsInOneUpdate) {
  // At a small rate gradients hardly change between the parts, so their sum is the whole one's.
  const Task task{.id = 1, .rows = {0, 256}, .learning_rate = 1e-3f};
  ReplicaHarness whole(0, 2), parts(0, 2);
  parts.use->limit_bytes = Peak(0, 64);
  const std::vector<float> before = whole.Model();
  whole.Do(task);
  const Report report = parts.Do(task);
  EXPECT_GE(report.updates, 4);
  const std::vector<float> a = whole.Model(), b = parts.Model();
  double moved = 0, apart = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    moved = std::max(moved, std::abs(static_cast<double>(a[i] - before[i])));
    apart = std::max(apart, std::abs(static_cast<double>(a[i] - b[i])));
  }
  EXPECT_LT(apart, 0.02 * moved);
}

TEST(ReplicaOverlap, FailsWhenNotEvenOneRowHasRoom) {
  ReplicaHarness harness(0, 2);
  harness.use->limit_bytes = Peak(0, 1) / 2;
  EXPECT_THROW(harness.Do(Update(0)), OutOfDeviceMemory);
}

}  // namespace
}  // namespace hogbatch
