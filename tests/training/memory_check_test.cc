#include "training/memory_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/support/detected_devices.h"

namespace hogbatch {
namespace {

using testing::HasSubstr;

std::vector<DeviceChoice> Workers(int cores, int gpus) {
  std::vector<DeviceChoice> devices(cores, {Processor(), nullptr});
  devices.resize(cores + gpus, {CudaGpu("cuda.0", ""), nullptr});
  return devices;
}

Workload Of(const ModelSpec& spec, const std::string& optimizer = "sgd", double momentum = 0) {
  Workload work{.model = spec, .explicit_momentum = momentum, .devices = Workers(8, 0)};
  work.optimizer.optimizer = optimizer;
  return work;
}

const ModelSpec kSmall{.inputs = 32, .hidden = {16}, .outputs = 16};
constexpr std::int64_t kCopy = 4 * (32 * 16 + 16 + 16 * 16 + 16);  // bytes of its parameters

TEST(HostBytesToTrain, CountCopiesOfTheModelAndWhatEachWorkerKeeps) {
  EXPECT_EQ(HostBytesToTrain(Of(kSmall)), 4 * kCopy);
  EXPECT_EQ(HostBytesToTrain(Of(kSmall, "sgd", 0.9)), (4 + 8 * 2) * kCopy);
  EXPECT_EQ(HostBytesToTrain(Of(kSmall, "adam")), (4 + 8 * 3) * kCopy);
}

TEST(HostBytesToTrain, OfWorkersThatStepTogetherHaveOneStateAndAGradientEach) {
  Workload work = Of(kSmall, "adam");
  work.synchronous = true;
  EXPECT_EQ(HostBytesToTrain(work), (4 + 2 + 8) * kCopy);
}

TEST(HostBytesToTrain, LeaveTheFirstLayerOutOfGradientsOfSparseRows) {
  ModelSpec sparse = kSmall;
  sparse.sparse_input = true;
  const std::int64_t first = 4 * 32 * 16;
  EXPECT_EQ(HostBytesToTrain(Of(sparse, "adam")), (4 + 8 * 3) * kCopy - 8 * first);
}

TEST(HostBytesToTrain, OfGpusAreWhatTravelsAndNoState) {
  Workload work = Of(kSmall, "adam");
  work.devices = Workers(0, 2);
  EXPECT_EQ(HostBytesToTrain(work), (4 + 2 * 4) * kCopy);
}

// A machine with more memory than anything here needs, and this GPU.
Workload OnGpu(const ModelSpec& spec, DeviceInfo gpu, BatchRange batch = {.min = 512, .max = 512}) {
  Workload work = Of(spec);
  work.gpu_batch = batch;
  work.devices = {{std::move(gpu), nullptr}};
  work.host_memory_bytes = std::int64_t{1} << 50;
  return work;
}

std::string WhyNot(const Workload& work) {
  try {
    CheckTrainingFits(work, Dataset());
  } catch (const UserError& error) {
    return error.what();
  }
  return "it fits";
}

TEST(CheckTrainingFits, LooksAtTheHostsMemoryWhicheverDeviceIsNamedFirst) {
  Workload work = OnGpu({.inputs = 1000, .hidden = {1000}, .outputs = 10}, CudaGpu("cuda.0", ""));
  EXPECT_EQ(WhyNot(work), "it fits");
  work.host_memory_bytes = 20'000'000;
  EXPECT_THAT(WhyNot(work), HasSubstr("of memory to train on 1 worker, and there are"));
}

TEST(CheckTrainingFits, RefusesANetworkThatAGpuHasNoRoomFor) {
  const ModelSpec spec{.inputs = 1000, .hidden = {100'000, 100'000}, .outputs = 10};
  EXPECT_THAT(WhyNot(OnGpu(spec, CudaGpu("cuda.0", ""))),
              testing::MatchesRegex("this network needs [0-9]+ GB on cuda.0 and there are 40 GB; "
                                    "choose smaller layers with --hidden or fewer rows with "
                                    "--gpu-batch"));
  DeviceInfo unknown = CudaGpu("cuda.0", "");
  unknown.memory_bytes = 0;
  EXPECT_EQ(WhyNot(OnGpu(spec, unknown)), "it fits");
}

TEST(CheckTrainingFits, RefusesABatchThatAGpuHasNoRoomFor) {
  const ModelSpec spec{.inputs = 1000, .hidden = {10'000}, .outputs = 10};
  const DeviceInfo gpu = CudaGpu("cuda.0", "");
  EXPECT_EQ(WhyNot(OnGpu(spec, gpu)), "it fits");
  EXPECT_THAT(WhyNot(OnGpu(spec, gpu, {.min = 1 << 20, .max = 1 << 20})),
              HasSubstr("fewer rows with --gpu-batch"));
}

TEST(CheckTrainingFits, ReckonsWithTheStateOfTheOptimizerAndGradientsToStepTogether) {
  const ModelSpec spec{.inputs = 1000, .hidden = {42'000, 42'000}, .outputs = 10};
  EXPECT_EQ(WhyNot(OnGpu(spec, CudaGpu("cuda.0", ""))), "it fits");
  Workload adam = OnGpu(spec, CudaGpu("cuda.0", ""));
  adam.optimizer.optimizer = "adam";
  EXPECT_THAT(WhyNot(adam), HasSubstr("on cuda.0"));
  Workload two = OnGpu(spec, CudaGpu("cuda.0", ""));
  two.devices.push_back({CudaGpu("cuda.1", ""), nullptr});
  two.synchronous = true;
  EXPECT_THAT(WhyNot(two), HasSubstr("on cuda.0"));
}

TEST(CheckTrainingFits, ReckonsWithUpdatesThatAreMergedTogether) {
  Workload work = OnGpu({.inputs = 10'000'000, .hidden = {8}, .outputs = 2}, CudaGpu("cuda.0", ""),
                        {.min = 4, .max = 4});
  work.merge_rows = 4;
  EXPECT_EQ(CheckTrainingFits(work, Dataset()).front(), 0) << "all that is asked for";
  work.merge_rows = 100'000;
  const std::int64_t fits = CheckTrainingFits(work, Dataset()).front();
  EXPECT_GE(fits, 4) << "updates are as large as asked for";
  EXPECT_LT(fits, 2000) << "rows of 40 MB";
}

TEST(CheckTrainingFits, ReckonsWithUpdatesThatOverlap) {
  const ModelSpec spec{.inputs = 1000, .hidden = {46'000, 46'000}, .outputs = 10};
  DeviceInfo gpu = CudaGpu("cuda.0", "");
  EXPECT_EQ(WhyNot(OnGpu(spec, gpu)), "it fits");
  gpu.depth = 2;
  EXPECT_THAT(WhyNot(OnGpu(spec, gpu)), HasSubstr("on cuda.0"));
}

TEST(CheckTrainingFits, CutsTheRangeOfABatchToWhatAGpuHasRoomFor) {
  const ModelSpec spec{.inputs = 1000, .hidden = {10'000}, .outputs = 10};
  Workload work = OnGpu(spec, CudaGpu("cuda.0", ""), {.min = 64, .max = 1 << 20});
  work.devices.insert(work.devices.begin(), {Processor(), nullptr});
  DeviceInfo unknown = CudaGpu("cuda.1", "");
  unknown.memory_bytes = 0;
  work.devices.push_back({unknown, nullptr});

  const std::vector<std::int64_t> fits = CheckTrainingFits(work, Dataset());
  ASSERT_EQ(fits.size(), 3);
  EXPECT_EQ(fits[0], 0);
  EXPECT_GT(fits[1], 64);
  EXPECT_LT(fits[1], 1 << 20);
  EXPECT_EQ(fits[2], 0);
}

TEST(CheckTrainingFits, LimitsNoBatchThatFits) {
  const ModelSpec spec{.inputs = 1000, .hidden = {10'000}, .outputs = 10};
  const Workload work = OnGpu(spec, CudaGpu("cuda.0", ""), {.min = 64, .max = 8192});
  EXPECT_THAT(CheckTrainingFits(work, Dataset()), testing::ElementsAre(0));
}

TEST(CheckTrainingFits, TriesTheSmallestBatchThoughLibrariesMayFindTooLittleLeft) {
  const ModelSpec spec{.inputs = 1000, .hidden = {1000}, .outputs = 10};
  DeviceInfo gpu = CudaGpu("cuda.0", "");
  const BatchRange range{.min = 64, .max = 8192};
  gpu.memory_bytes = 1'000'000;
  while (WhyNot(OnGpu(spec, gpu, range)) != "it fits") gpu.memory_bytes += gpu.memory_bytes / 64;
  EXPECT_THAT(CheckTrainingFits(OnGpu(spec, gpu, range), Dataset()), testing::ElementsAre(64));
}

TEST(CheckInferenceFits, RefusesANetworkThatAGpuHasNoRoomFor) {
  const std::vector<DeviceChoice> gpu = {{Processor(), nullptr}, {CudaGpu("cuda.0", ""), nullptr}};
  EXPECT_NO_THROW(CheckInferenceFits(gpu, {.inputs = 1000, .hidden = {1000}, .outputs = 10}));
  const ModelSpec large{.inputs = 1000, .hidden = {200'000, 200'000}, .outputs = 10};
  EXPECT_THROW(CheckInferenceFits(gpu, large), UserError);
  EXPECT_NO_THROW(CheckInferenceFits({{Processor(), nullptr}}, large));
}

}  // namespace
}  // namespace hogbatch
