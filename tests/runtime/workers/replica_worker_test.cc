// A worker on a device that does not share host memory, update by update.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "tests/runtime/workers/replica_harness.h"

namespace hogbatch {
namespace {

TEST(ReplicaWorker, KeepsWhatOthersWroteWhileItComputed) {
  for (const std::int64_t nonzeros : {0, 5}) {
    const Task task{.rows = {0, 16}, .learning_rate = 0.1f};
    ReplicaHarness alone(nonzeros), together(nonzeros);
    const std::vector<float> before = alone.Model();
    alone.Do(task);
    const std::vector<float> after = alone.Model();

    together.worker().Compute(task, 0);
    for (float& w : together.memory.store.idle_weights()) w += 1;
    together.worker().Commit(task, 0);
    const std::vector<float> both = together.Model();
    std::size_t moved = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      moved += after[i] != before[i];
      ASSERT_NEAR(both[i], after[i] + 1, 1e-6) << i;
    }
    EXPECT_GT(moved, 50u);
  }
}

TEST(ReplicaWorker, ChangesNothingBeforeItCommits) {
  ReplicaHarness harness(0);
  const std::vector<float> before = harness.Model();
  harness.worker().Compute({.rows = {0, 16}, .learning_rate = 0.1f}, 0);
  EXPECT_EQ(harness.Model(), before);
}

// Neither the model nor what the optimiser remembers.
TEST(ReplicaWorker, BeginsAfterItsPreparationAsWithoutIt) {
  for (const std::int64_t nonzeros : {0, 5}) {
    for (const char* optimizer : {"sgd", "adam"}) {
      ReplicaHarness fresh(nonzeros, 2), prepared(nonzeros, 2);
      for (ReplicaHarness* harness : {&fresh, &prepared}) {
        harness->memory.optimizer.optimizer = optimizer;
        harness->memory.explicit_momentum = 0.5;
      }
      const std::vector<float> before = prepared.Model();
      prepared.worker().Prepare();
      EXPECT_GT(prepared.use->uploaded_bytes, 0);
      EXPECT_EQ(prepared.Model(), before);
      for (int i = 0; i < 3; ++i) {
        const Task task{.rows = {i * 8, i * 8 + 8}, .learning_rate = 0.1f};
        EXPECT_EQ(prepared.Do(task).loss_sum, fresh.Do(task).loss_sum);
      }
      EXPECT_EQ(prepared.Model(), fresh.Model()) << optimizer;
      EXPECT_NE(prepared.Model(), before);
    }
  }
}

TEST(ReplicaWorker, MovesOnlyTheRowsThatASparseBatchTouches) {
  ReplicaHarness harness(2);
  const Task task{.rows = {0, 8}, .learning_rate = 0.1f};
  harness.Do(task);
  // At most 16 rows of 32 floats, their biases, and the whole second layer; then the batch.
  const std::int64_t layers = (16 * 32 + 32 + 32 * 2 + 16 + 2) * 4;
  EXPECT_LE(harness.use->downloaded_bytes, layers + 8 * 4);
  EXPECT_LE(harness.use->uploaded_bytes, layers + 9 * 8 + 16 * 8 + 8 * 4);
}

TEST(ReplicaWorker, NeverWaitsForAllOfItsDeviceOnceItsMemoryHasGrown) {
  for (const double momentum : {0.0, 0.5}) {
    for (const char* optimizer : {"sgd", "adam"}) {
      ReplicaHarness harness(2);
      harness.memory.optimizer.optimizer = optimizer;
      harness.memory.optimizer.weight_decay = 0.1;
      harness.memory.explicit_momentum = momentum;
      harness.Do({.rows = {0, 64}, .learning_rate = 0.1f});
      const std::int64_t waits = harness.use->waits;
      for (int i = 0; i < 5; ++i) harness.Do({.rows = {i * 8, i * 8 + 8}, .learning_rate = 0.1f});
      EXPECT_EQ(harness.use->waits, waits) << optimizer;
    }
  }
}

TEST(ReplicaWorker, UploadsASnapshotOnceAndKnowsItFromTheNext) {
  ReplicaHarness harness(0);
  const Task snapshot{.kind = TaskKind::kSnapshot, .rows = {}, .snapshot = 1};
  const Task evaluate{.kind = TaskKind::kEvaluate, .rows = {0, 100}, .snapshot = 1};
  const std::int64_t model = (200 * 32 + 32 + 32 * 2 + 16 + 2 - 14) * 4;
  const std::int64_t rows = 100 * 200 * 4;
  harness.Do(snapshot);
  EXPECT_EQ(harness.use->uploaded_bytes, 0);
  const double first = harness.Do(evaluate).evaluation.loss;
  EXPECT_NEAR(static_cast<double>(harness.use->uploaded_bytes), model + rows, 256);
  EXPECT_EQ(harness.Do(evaluate).evaluation.loss, first);
  EXPECT_NEAR(static_cast<double>(harness.use->uploaded_bytes), model + 2 * rows, 256);

  for (float& w : harness.memory.store.idle_weights()) w *= 2;
  EXPECT_EQ(harness.Do(evaluate).evaluation.loss, first);
  harness.Do(snapshot);
  EXPECT_NE(harness.Do(evaluate).evaluation.loss, first);
  // The other slot was not written since the start: the initial model.
  Task other = evaluate;
  other.snapshot = 0;
  EXPECT_EQ(harness.Do(other).evaluation.loss, first);
}

TEST(ReplicaWorker, LeavesNothingOnTheDevice) {
  ReplicaHarness harness(3);
  harness.memory.explicit_momentum = 0.5;
  harness.Do({.rows = {0, 16}, .learning_rate = 0.1f});
  harness.Do({.kind = TaskKind::kSnapshot, .rows = {}, .snapshot = 0});
  harness.Do({.kind = TaskKind::kEvaluate, .rows = {0, 100}, .snapshot = 0});
  harness.made.reset();
  EXPECT_EQ(harness.use->leaked_blocks, 0);
  EXPECT_EQ(harness.use->live_bytes, 0);
}

}  // namespace
}  // namespace hogbatch
