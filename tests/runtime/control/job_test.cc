// How an assignment becomes rows, merges and updates.
#include "runtime/control/job.h"

#include <gtest/gtest.h>

#include <set>

namespace hogbatch {
namespace {

TEST(Job, MakesNoUpdateWithoutARow) {
  for (std::int64_t rows = 1; rows <= 400; ++rows) {
    for (const std::int64_t batch_size : {1, 2, 3, 4, 7}) {
      for (const std::int64_t merge_rows : {1, 4, 5, 64, 256}) {
        Job job({.train_rows = rows}, 1, LearningRate({.lr = 0.1}, 1), 1);
        const std::optional<Task> task = job.NextTask(
            1,
            {.assignment = {.batch_size = batch_size}, .updates = 1000, .merge_rows = merge_rows});
        ASSERT_TRUE(task);
        for (std::int32_t i = 0; i < task->merges; ++i) {
          ASSERT_GE(Part(task->rows, i, task->merges).size(), task->updates_per_merge)
              << rows << " rows, " << batch_size << " to an update, " << merge_rows << " to merge";
        }
      }
    }
  }
}

TEST(Job, MakesWholeMergesWhereThereAreRowsForThem) {
  Job job({.train_rows = 100000}, 1, LearningRate({.lr = 0.1}, 1), 1);
  const std::optional<Task> task =
      job.NextTask(1, {.assignment = {.batch_size = 8}, .updates = 37, .merge_rows = 64});
  ASSERT_TRUE(task);
  EXPECT_EQ(task->rows.size(), 5 * 64);
  EXPECT_EQ(task->merges, 5);
  EXPECT_EQ(task->updates_per_merge, 8);
}

TEST(Job, ChangesTheRateOfAnExclusiveJobLessOftenInALongRun) {
  constexpr std::int64_t kRows = 6399;  // 64 times 99.98
  const auto changes = [](double epochs) {
    Job job({.train_rows = kRows, .most_workers = 1}, epochs, LearningRate({.lr = 0.1}, epochs), 1);
    std::set<double> at;
    TaskId id = 1;
    while (const auto task =
               job.NextTask(id++, {.assignment = {.batch_size = 1}, .updates = 9999})) {
      at.insert(task->rate_epoch);
    }
    return at.size();
  };
  EXPECT_EQ(changes(1), 64u);
  EXPECT_EQ(changes(7), 7 * 64u);
  EXPECT_EQ(changes(8), 8 * 32u);
  EXPECT_EQ(changes(16), 16 * 16u);
  EXPECT_EQ(changes(64), 64 * 4u);
  EXPECT_EQ(changes(128), 128 * 4u);
}

}  // namespace
}  // namespace hogbatch
