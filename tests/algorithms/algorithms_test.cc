#include "algorithms/algorithms.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace hogbatch {
namespace {

WorkerState WorkerOf(WorkerId id, DeviceKind kind) {
  return {.id = id,
          .device = {.name = "a", .description = "b", .kind = kind},
          .team = kind == DeviceKind::kCpu ? 0 : 1};
}

std::vector<DeviceInfo> DevicesOf(const std::vector<DeviceKind>& kinds) {
  std::vector<DeviceInfo> devices;
  for (const DeviceKind kind : kinds) devices.push_back(WorkerOf(0, kind).device);
  return devices;
}

TEST(ChooseAlgorithm, AutoAdaptsAsSoonAsTwoKindsOfDeviceTrainTogether) {
  using enum DeviceKind;
  EXPECT_EQ(ChooseAlgorithm("auto", DevicesOf({kCpu, kCpu})).name, "hogbatch");
  EXPECT_EQ(ChooseAlgorithm("auto", DevicesOf({kCuda, kCuda})).name, "hogbatch");
  EXPECT_EQ(ChooseAlgorithm("auto", DevicesOf({kCpu, kCuda})).name, "adaptive");
  EXPECT_EQ(ChooseAlgorithm("auto", DevicesOf({kCuda, kOpenCl})).name, "adaptive");
}

TEST(ChooseAlgorithm, LeavesTheUsersOwnChoice) {
  EXPECT_EQ(ChooseAlgorithm("sync", DevicesOf({DeviceKind::kCpu, DeviceKind::kCuda})).name, "sync");
}

TEST(FindAlgorithm, NamesWhatThereIsForAnUnknownName) {
  try {
    FindAlgorithm("adaptiv");
    ADD_FAILURE();
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(),
                 "there is no algorithm 'adaptiv'; there are: hogbatch, adaptive, sync");
  }
}

TEST(AlgorithmTraits, SayWhoWorksAlone) {
  EXPECT_EQ(AsynchronousWorkers(FindAlgorithm("hogbatch").traits, 4), 4);
  EXPECT_EQ(AsynchronousWorkers(FindAlgorithm("adaptive").traits, 4), 4);
  EXPECT_EQ(AsynchronousWorkers(FindAlgorithm("sync").traits, 4), 1);
}

TEST(AlgorithmHelp, ExplainsEveryWordOfTheOption) {
  for (const std::string& word : AlgorithmWords().words) {
    EXPECT_NE(AlgorithmHelp().find(word), std::string::npos) << word;
  }
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
