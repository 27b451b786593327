// How an assignment becomes rows, merges and updates.
#include "runtime/control/job.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace hogbatch
