#include "training/memory_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/support/offers.h"

namespace hogbatch {
namespace {

using testing::HasSubstr;

TrainOptions With(const std::string& optimizer, double momentum, const std::string& algorithm) {
  TrainOptions options;
  options.optimizer.optimizer = optimizer;
  options.optimizer.momentum = momentum;
  options.optimizer.no_momentum_correction = true;
  options.algorithm = algorithm;
  return options;
}

constexpr WorkerCounts kEightCores = {.cpu = 8};

TEST(HostBytesToTrain, CountCopiesOfTheModelAndWhatEachWorkerKeeps) {
  const ModelSpec spec{.inputs = 32, .hidden = {16}, .outputs = 16};
  const std::int64_t copy = 4 * (32 * 16 + 16 + 16 * 16 + 16);
  EXPECT_EQ(HostBytesToTrain(With("sgd", 0, "hogbatch"), spec, kEightCores), 4 * copy);
  EXPECT_EQ(HostBytesToTrain(With("sgd", 0.9, "hogbatch"), spec, kEightCores), (4 + 8 * 2) * copy);
  EXPECT_EQ(HostBytesToTrain(With("adam", 0, "hogbatch"), spec, kEightCores), (4 + 8 * 3) * copy);
}

TEST(HostBytesToTrain, OfWorkersThatStepTogetherHaveOneStateAndAGradientEach) {
  const ModelSpec spec{.inputs = 32, .hidden = {16}, .outputs = 16};
  const std::int64_t copy = 4 * (32 * 16 + 16 + 16 * 16 + 16);
  EXPECT_EQ(HostBytesToTrain(With("adam", 0, "sync"), spec, kEightCores), (4 + 2 + 8) * copy);
}

TEST(HostBytesToTrain, LeaveTheFirstLayerOutOfGradientsOfSparseRows) {
  const ModelSpec spec{.inputs = 32, .hidden = {16}, .outputs = 16, .sparse_input = true};
  const std::int64_t first = 4 * 32 * 16;
  const std::int64_t copy = first + 4 * (16 + 16 * 16 + 16);
  EXPECT_EQ(HostBytesToTrain(With("adam", 0, "hogbatch"), spec, kEightCores),
            (4 + 8 * 3) * copy - 8 * first);
}

TEST(HostBytesToTrain, OfGpusAreWhatTravelsAndNoState) {
  const ModelSpec spec{.inputs = 32, .hidden = {16}, .outputs = 16};
  const std::int64_t copy = 4 * (32 * 16 + 16 + 16 * 16 + 16);
  EXPECT_EQ(HostBytesToTrain(With("adam", 0, "hogbatch"), spec, {.cpu = 0, .gpu = 2}),
            (4 + 2 * 4) * copy);
}

// A machine with more memory than anything here needs, and this GPU.
TrainPlan OnGpu(DeviceInfo gpu, BatchRange batch = {.min = 512, .max = 512}) {
  TrainPlan plan;
  plan.host_memory_bytes = std::int64_t{1} << 50;
  plan.devices.push_back({std::move(gpu), nullptr});
  plan.batches.gpu_batch = batch;
  return plan;
}

TrainOptions Plain(const std::string& algorithm = "hogbatch") { return With("sgd", 0, algorithm); }

std::string WhyNot(const TrainOptions& options, const TrainPlan& plan, const ModelSpec& spec) {
  try {
    CheckTrainingFits(options, plan, spec, Dataset());
  } catch (const UserError& error) {
    return error.what();
  }
  return "it fits";
}

TEST(CheckTrainingFits, LooksAtTheHostsMemoryWhicheverDeviceIsNamedFirst) {
  const ModelSpec spec{.inputs = 1000, .hidden = {1000}, .outputs = 10};
  TrainPlan plan = OnGpu(CudaGpu("cuda.0", ""));
  EXPECT_EQ(WhyNot(Plain(), plan, spec), "it fits");
  plan.host_memory_bytes = 20'000'000;
  EXPECT_THAT(WhyNot(Plain(), plan, spec),
              HasSubstr("of memory to train on 1 worker, and there are"));
}

TEST(CheckTrainingFits, RefusesANetworkThatAGpuHasNoRoomFor) {
  const ModelSpec spec{.inputs = 1000, .hidden = {100'000, 100'000}, .outputs = 10};
  EXPECT_THAT(WhyNot(Plain(), OnGpu(CudaGpu("cuda.0", "")), spec),
              testing::MatchesRegex("this network needs [0-9]+ GB on cuda.0 and there are 40 GB; "
                                    "choose smaller layers with --hidden or fewer rows with "
                                    "--gpu-batch"));
  DeviceInfo unknown = CudaGpu("cuda.0", "");
  unknown.memory_bytes = 0;
  EXPECT_EQ(WhyNot(Plain(), OnGpu(unknown), spec), "it fits");
}

TEST(CheckTrainingFits, RefusesABatchThatAGpuHasNoRoomFor) {
  const ModelSpec spec{.inputs = 1000, .hidden = {10'000}, .outputs = 10};
  const DeviceInfo gpu = CudaGpu("cuda.0", "");
  EXPECT_EQ(WhyNot(Plain(), OnGpu(gpu), spec), "it fits");
  const BatchRange large{.min = 1 << 20, .max = 1 << 20};
  EXPECT_THAT(WhyNot(Plain(), OnGpu(gpu, large), spec), HasSubstr("fewer rows with --gpu-batch"));
  EXPECT_THAT(WhyNot(Plain("adaptive"), OnGpu(gpu, large), spec), HasSubstr("--gpu-batch"));
}

TEST(CheckTrainingFits, ReckonsWithTheStateOfTheOptimizerAndGradientsToStepTogether) {
  const ModelSpec spec{.inputs = 1000, .hidden = {42'000, 42'000}, .outputs = 10};
  EXPECT_EQ(WhyNot(Plain(), OnGpu(CudaGpu("cuda.0", "")), spec), "it fits");
  EXPECT_THAT(WhyNot(With("adam", 0, "hogbatch"), OnGpu(CudaGpu("cuda.0", "")), spec),
              HasSubstr("on cuda.0"));
  TrainPlan two = OnGpu(CudaGpu("cuda.0", ""));
  two.devices.push_back({CudaGpu("cuda.1", ""), nullptr});
  EXPECT_THAT(WhyNot(Plain("sync"), two, spec), HasSubstr("on cuda.0"));
}

TEST(CheckTrainingFits, ReckonsWithUpdatesThatAreMergedTogether) {
  const ModelSpec spec{.inputs = 10'000'000, .hidden = {8}, .outputs = 2};
  TrainOptions options = Plain();
  TrainPlan plan = OnGpu(CudaGpu("cuda.0", ""), {.min = 4, .max = 4});
  options.merge_rows = 4;
  EXPECT_EQ(CheckTrainingFits(options, plan, spec, Dataset()).front(), 0)
      << "all that is asked for";
  options.merge_rows = 100'000;
  plan.max_batch_size = CheckTrainingFits(options, plan, spec, Dataset());
  EXPECT_GE(plan.max_batch_size.front(), 4);
  EXPECT_LT(plan.max_batch_size.front(), 2000) << "rows of 40 MB";
  EXPECT_TRUE(MemoryNotes(options, plan).empty()) << "updates are as large as asked for";
}

TEST(CheckTrainingFits, ReckonsWithUpdatesThatOverlap) {
  const ModelSpec spec{.inputs = 1000, .hidden = {46'000, 46'000}, .outputs = 10};
  DeviceInfo gpu = CudaGpu("cuda.0", "");
  EXPECT_EQ(WhyNot(Plain(), OnGpu(gpu), spec), "it fits");
  gpu.depth = 2;
  EXPECT_THAT(WhyNot(Plain(), OnGpu(gpu), spec), HasSubstr("on cuda.0"));
}

TEST(CheckTrainingFits, CutsTheRangeOfABatchToWhatAGpuHasRoomFor) {
  const ModelSpec spec{.inputs = 1000, .hidden = {10'000}, .outputs = 10};
  TrainPlan plan = OnGpu(CudaGpu("cuda.0", ""), {.min = 64, .max = 1 << 20});
  plan.devices.insert(plan.devices.begin(), {Processor(), nullptr});
  DeviceInfo unknown = CudaGpu("cuda.1", "");
  unknown.memory_bytes = 0;
  plan.devices.push_back({unknown, nullptr});

  plan.max_batch_size = CheckTrainingFits(Plain("adaptive"), plan, spec, Dataset());
  ASSERT_EQ(plan.max_batch_size.size(), 3);
  EXPECT_EQ(plan.max_batch_size[0], 0);
  EXPECT_GT(plan.max_batch_size[1], 64);
  EXPECT_LT(plan.max_batch_size[1], 1 << 20);
  EXPECT_EQ(plan.max_batch_size[2], 0);
  EXPECT_THAT(MemoryNotes(Plain("adaptive"), plan),
              testing::ElementsAre(testing::MatchesRegex(
                  "note      cuda.0 has room for [0-9,]+ rows per update, fewer than --gpu-batch "
                  "1048576")));
}

TEST(CheckTrainingFits, LimitsNoBatchThatFits) {
  const ModelSpec spec{.inputs = 1000, .hidden = {10'000}, .outputs = 10};
  const DeviceInfo gpu = CudaGpu("cuda.0", "");
  TrainPlan plan = OnGpu(gpu, {.min = 64, .max = 8192});
  plan.max_batch_size = CheckTrainingFits(Plain("adaptive"), plan, spec, Dataset());
  EXPECT_THAT(plan.max_batch_size, testing::ElementsAre(0));
  EXPECT_THAT(MemoryNotes(Plain("adaptive"), plan), testing::IsEmpty());
  // A size that does not adapt is what counts, not the range it is chosen from.
  plan.batches.gpu_batch = {.min = 64, .max = 1 << 20};
  EXPECT_THAT(CheckTrainingFits(Plain(), plan, spec, Dataset()), testing::ElementsAre(0));
}

TEST(CheckTrainingFits, TriesTheSmallestBatchThoughLibrariesMayFindTooLittleLeft) {
  const ModelSpec spec{.inputs = 1000, .hidden = {1000}, .outputs = 10};
  DeviceInfo gpu = CudaGpu("cuda.0", "");
  const BatchRange range{.min = 64, .max = 8192};
  gpu.memory_bytes = 1'000'000;
  while (WhyNot(Plain("adaptive"), OnGpu(gpu, range), spec) != "it fits") {
    gpu.memory_bytes += gpu.memory_bytes / 64;
  }
  EXPECT_THAT(CheckTrainingFits(Plain("adaptive"), OnGpu(gpu, range), spec, Dataset()),
              testing::ElementsAre(64));
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
