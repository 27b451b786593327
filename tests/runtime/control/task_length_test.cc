#include "runtime/control/task_length.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/runtime/fakes.h"

namespace hogbatch {
namespace {

// For the first of `count` workers, which takes `seconds_per_row`.
std::int32_t UpdatesOf(std::int64_t batch_size, double seconds_per_row,
                       std::int64_t remaining_rows = 10000000, std::size_t count = 1) {
  std::vector<WorkerState> workers(count);
  workers[0].seconds_per_row = seconds_per_row;
  const JobState job{.id = 0, .train_rows = 10000000, .remaining_rows = remaining_rows};
  return UpdatesPerTask({.worker = workers[0], .batch_size = batch_size},
                        {.jobs = {&job, 1}, .workers = workers});
}

TEST(TaskLength, IsShortForAWorkerThatWasNotMeasured) {
  EXPECT_EQ(UpdatesOf(16, 0), 4);
  EXPECT_EQ(UpdatesOf(512, 0), 1);
}

// Slower updates, fewer of them in a task: about 20 ms of work whatever the device.
TEST(TaskLength, IsTheSameOnDevicesOfAnySpeed) {
  EXPECT_EQ(UpdatesOf(16, 0.0005 / 16), 40);
  EXPECT_EQ(UpdatesOf(512, 0.004 / 512), 5);
}

// A worker that was measured with 64 rows an update gets 16 in the next task: four times as many.
TEST(TaskLength, FollowsTheBatchSize) {
  const double seconds_per_row = 0.02 / 640;
  EXPECT_EQ(UpdatesOf(64, seconds_per_row), 10);
  EXPECT_EQ(UpdatesOf(16, seconds_per_row), 40);
  EXPECT_EQ(UpdatesOf(1024, seconds_per_row), 1);
}

TEST(TaskLength, IsASmallPartOfWhatIsLeft) {
  EXPECT_EQ(UpdatesOf(16, 1e-6 / 16, 1600, 2), 12);
  EXPECT_EQ(UpdatesOf(16, 1e-6 / 16, 10, 2), 1);
}

TEST(TaskLength, FollowsTheFirstTaskAtOnceAndLaterOnesSlowly) {
  EXPECT_DOUBLE_EQ(SmoothedSecondsPerRow(0, {.rows = 10, .seconds = 20}), 2);
  EXPECT_DOUBLE_EQ(SmoothedSecondsPerRow(2, {.rows = 10, .seconds = 60}), 3);
  EXPECT_DOUBLE_EQ(SmoothedSecondsPerRow(2, {.rows = 0, .seconds = 60}), 2);
}

// Keeps what the workers were measured at when they last asked.
class Speeds : public Algorithm {
 public:
  std::optional<Assignment> Assign(const WorkerState& idle, const JobTable& table) override {
    seconds_per_row.resize(table.workers.size());
    seconds_per_row[idle.id] = idle.seconds_per_row;
    return Assignment{.batch_size = 16};
  }
  IndexedVector<WorkerId, double> seconds_per_row;
};

TEST(TaskLength, IsMeasuredByTheCoordinatorForEveryAlgorithm) {
  FakeRun run{.costs = {{.seconds_per_row = 1e-4}, {.seconds_per_row = 2e-3}}};
  run.evaluated = SplitRows{};
  run.rules.epochs = 10;
  Speeds speeds;
  run.own_algorithm = &speeds;
  run.Run();
  ASSERT_EQ(speeds.seconds_per_row.size(), 2u);
  EXPECT_NEAR(speeds.seconds_per_row[0], 1e-4, 1e-9);
  EXPECT_NEAR(speeds.seconds_per_row[1], 2e-3, 1e-9);
  // Tasks at the beginning and the end are short.
  std::int64_t fast_rows = 0, slow_rows = 0;
  for (const Task& task : run.ledger.finished) {
    std::int64_t& longest = task.worker == 0 ? fast_rows : slow_rows;
    longest = std::max(longest, task.rows.size());
  }
  EXPECT_EQ(fast_rows, 12 * 16);
  EXPECT_EQ(slow_rows, 64) << "the first one; 16 rows take 32 ms";
}

}  // namespace
}  // namespace hogbatch
