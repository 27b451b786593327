#include "algorithms/algorithms.h"

#include <gtest/gtest.h>

namespace hogbatch {
namespace {

WorkerState WorkerOf(WorkerId id, DeviceKind kind) {
  return {.id = id,
          .device = {.name = "a", .description = "b", .kind = kind},
          .team = kind == DeviceKind::kCpu ? 0 : 1};
}

TEST(FixedBatchSize, AreTheUsualOfTheDeviceOrTheNearestInRange) {
  EXPECT_EQ(FixedBatchSize(BatchRange{1, 64}), 16);
  EXPECT_EQ(FixedBatchSize(BatchRange{32, 64}), 32);
  EXPECT_EQ(FixedBatchSize(BatchRange{64, 8192}, DeviceKind::kOpenCl), 512);
  EXPECT_EQ(FixedBatchSize(BatchRange{64, 128}, DeviceKind::kCuda), 128);
  const AlgorithmOptions options{.cpu_batch = {8, 8}, .gpu_batch = {256, 256}};
  EXPECT_EQ(FixedBatchSize(options, DeviceKind::kCpu), 8);
  EXPECT_EQ(FixedBatchSize(options, DeviceKind::kCuda), 256);
  EXPECT_EQ(FixedBatchSize(options, DeviceKind::kOpenCl), 256);
}

TEST(FixedBatchSize, AreTheUsualInTheRangesThatNobodySet) {
  EXPECT_EQ(FixedBatchSize(AlgorithmOptions{}, DeviceKind::kCpu), 16);
  EXPECT_EQ(FixedBatchSize(AlgorithmOptions{}, DeviceKind::kCuda), 512);
}

TEST(FixedBatchSize, FollowTheKindOfDeviceInEveryAlgorithm) {
  for (const std::string& name : AlgorithmNames()) {
    SCOPED_TRACE(name);
    const std::unique_ptr<Algorithm> algorithm =
        MakeAlgorithm(name, {.cpu_batch = {8, 8}, .gpu_batch = {256, 256}});
    const std::vector<WorkerState> workers = {WorkerOf(0, DeviceKind::kCpu),
                                              WorkerOf(1, DeviceKind::kOpenCl)};
    const JobState job{.id = 0, .train_rows = 100000, .remaining_rows = 100000};
    const JobTable table{.jobs = {&job, 1}, .workers = workers};
    EXPECT_EQ(algorithm->Assign(workers[0], table)->batch_size, 8);
    EXPECT_EQ(algorithm->Assign(workers[1], table)->batch_size, 256);
  }
}

}  // namespace
}  // namespace hogbatch
