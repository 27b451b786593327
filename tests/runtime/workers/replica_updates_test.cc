// Several updates on a replica before what they add together is merged.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/runtime/workers/replica_harness.h"

namespace hogbatch {
namespace {

Task Updates(std::int64_t first, std::int32_t count, std::int64_t rows = 16) {
  return {.id = first + 1,
          .rows = {first * rows, (first + count) * rows},
          .updates_per_merge = count,
          .learning_rate = 0.1f};
}

TEST(ReplicaUpdates, MakeTheModelOfAsManyUpdates) {
  for (const std::int64_t nonzeros : kNonzeros) {
    for (const double decay : {0.0, 0.5, 20.0}) {
      if (nonzeros > 0 && decay > 0) continue;  // is merged update by update
      ReplicaHarness one_by_one(nonzeros), at_once(nonzeros);
      one_by_one.memory.optimizer.weight_decay = at_once.memory.optimizer.weight_decay = decay;
      double losses = 0;
      for (int i = 0; i < 6; ++i) losses += one_by_one.Do(Updates(i, 1)).loss_sum;
      const Report report = at_once.Do(Updates(0, 6));
      ExpectNear(at_once.Model(), one_by_one.Model());
      EXPECT_NEAR(report.loss_sum, losses, 1e-4 * losses);
      EXPECT_EQ(report.updates, 6);
      EXPECT_EQ(report.staleness.count(), 1);
    }
  }
}

TEST(ReplicaUpdates, AreAsGoodForRowsThatDoNotDivideEvenly) {
  for (const std::int64_t nonzeros : kNonzeros) {
    ReplicaHarness one_by_one(nonzeros), at_once(nonzeros, 2);
    const Task task{.rows = {3, 40}, .updates_per_merge = 4, .learning_rate = 0.1f};
    for (int i = 0; i < 4; ++i) one_by_one.Do({.rows = Part({3, 40}, i, 4), .learning_rate = 0.1f});
    at_once.Do(task);
    ExpectNear(at_once.Model(), one_by_one.Model());
  }
}

TEST(ReplicaUpdates, SeeThoseOfThePartBeforeThatIsNotMerged) {
  for (const std::int64_t nonzeros : kNonzeros) {
    ReplicaHarness one_by_one(nonzeros), overlapped(nonzeros, 2);
    for (int i = 0; i < 9; ++i) one_by_one.Do(Updates(i, 1));
    overlapped.worker().Compute(Updates(0, 3), 0);
    overlapped.worker().Compute(Updates(3, 2), 0);
    overlapped.worker().Commit(Updates(0, 3), 0);
    overlapped.worker().Compute(Updates(5, 4), 0);
    overlapped.worker().Commit(Updates(3, 2), 0);
    overlapped.worker().Commit(Updates(5, 4), 0);
    ExpectNear(overlapped.Model(), one_by_one.Model());
  }
}

TEST(ReplicaUpdates, TravelTogether) {
  for (const std::int64_t nonzeros : kNonzeros) {
    ReplicaHarness one(nonzeros), six(nonzeros);
    one.Do({.rows = {0, 96}, .learning_rate = 0.1f});
    six.Do(Updates(0, 6));
    EXPECT_EQ(six.use->uploaded_bytes, one.use->uploaded_bytes);
    EXPECT_EQ(six.use->downloaded_bytes, one.use->downloaded_bytes);
    EXPECT_EQ(six.use->partial_waits, one.use->partial_waits);
  }
}

TEST(ReplicaUpdates, KeepWhatOthersWroteMeanwhile) {
  for (const std::int64_t nonzeros : kNonzeros) {
    ReplicaHarness alone(nonzeros), together(nonzeros);
    alone.Do(Updates(0, 4));
    together.worker().Compute(Updates(0, 4), 0);
    for (float& w : together.memory.store.idle_weights()) w += 1;
    together.worker().Commit(Updates(0, 4), 0);
    std::vector<float> expected = alone.Model();
    for (float& w : expected) w += 1;
    ExpectNear(together.Model(), expected);
  }
}

TEST(ReplicaUpdates, AreTheSameModelForAWorkerAloneHoweverItMerges) {
  for (const std::int64_t nonzeros : kNonzeros) {
    for (const double decay : {0.0, 0.5}) {
      if (nonzeros > 0 && decay > 0) continue;
      ReplicaHarness delta(nonzeros), overwrite(nonzeros), average(nonzeros);
      overwrite.memory.merge = Merge::kOverwrite;
      average.memory.merge = Merge::kAverage;
      for (ReplicaHarness* harness : {&delta, &overwrite, &average}) {
        harness->memory.optimizer.weight_decay = decay;
        harness->Do(Updates(0, 4));
        harness->Do(Updates(4, 3));
        const Task snapshot{.kind = TaskKind::kSnapshot, .rows = {}, .snapshot = 0};
        EXPECT_NEAR(harness->Do(snapshot).beta.value_or(0), 1, 1e-4);
      }
      ExpectNear(overwrite.Model(), delta.Model());
      ExpectNear(average.Model(), delta.Model());
    }
  }
}

TEST(ReplicaUpdates, AreNotAskedOfAnOptimiserWithState) {
  ReplicaHarness harness(0);
  harness.memory.explicit_momentum = 0.5;
  EXPECT_THROW(harness.Do(Updates(0, 2)), Error);
}

TEST(ReplicaUpdates, AreMergedInPartsWhereMemoryIsShort) {
  for (const std::int64_t nonzeros : kNonzeros) {
    ReplicaHarness measured(nonzeros), whole(nonzeros), parts(nonzeros);
    measured.Do({.rows = {0, 64}, .learning_rate = 1e-3f});
    parts.use->limit_bytes = measured.use->peak_bytes;
    // At a small rate gradients hardly change on the way, so that the sums can be compared.
    const Task task{.rows = {0, 512}, .updates_per_merge = 8, .learning_rate = 1e-3f};
    const std::vector<float> before = whole.Model();
    EXPECT_EQ(whole.Do(task).updates, 8);
    const Report report = parts.Do(task);
    EXPECT_GE(report.updates, 8);
    EXPECT_GT(report.staleness.count(), 2);
    EXPECT_GT(report.max_batch_size, 0);
    const std::vector<float> a = whole.Model(), b = parts.Model();
    double moved = 0, apart = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      moved = std::max(moved, std::abs(static_cast<double>(a[i] - before[i])));
      apart = std::max(apart, std::abs(static_cast<double>(a[i] - b[i])));
    }
    EXPECT_LT(apart, 0.03 * moved);
  }
}

// The gradient that a task for the synchronous round leaves, all layers one behind the other.
std::vector<float> HeldGradientOf(ReplicaHarness& harness, const Task& task) {
  EXPECT_EQ(harness.Do(task).updates, 1);
  std::vector<float> all;
  for (const LayerGradient& layer : harness.memory.held[0].layers) {
    for (const Tensor& t : {layer.weights, layer.bias}) {
      all.insert(all.end(), t.host(), t.host() + t.rows * t.cols);
    }
  }
  return all;
}

TEST(HeldGradient, IsAddedUpFromSmallerBatchesWhereMemoryIsShort) {
  for (const std::int64_t nonzeros : kNonzeros) {
    ReplicaHarness roomy(nonzeros), narrow(nonzeros);
    const Task task{.rows = {0, 500}, .learning_rate = 0.1f, .hold = true};
    const std::vector<float> expected = HeldGradientOf(roomy, task);
    const std::int64_t activations = 500 * 32 * std::int64_t{sizeof(float)};
    narrow.use->limit_bytes = roomy.use->peak_bytes - activations;
    ExpectNear(HeldGradientOf(narrow, task), expected);
    EXPECT_LE(narrow.use->peak_bytes, narrow.use->limit_bytes);
    const std::int64_t waits = narrow.use->waits;
    ExpectNear(HeldGradientOf(narrow, task), expected);
    EXPECT_EQ(narrow.use->waits - waits, 1) << "it knows from the first time";
  }
}

TEST(HeldGradient, FailsWhereNotEvenItsRowsHaveRoom) {
  ReplicaHarness harness(0);
  harness.use->limit_bytes = 500 * 200 * std::int64_t{sizeof(float)};
  EXPECT_THROW(harness.Do({.rows = {0, 500}, .learning_rate = 0.1f, .hold = true}),
               OutOfDeviceMemory);
}

}  // namespace
}  // namespace hogbatch
