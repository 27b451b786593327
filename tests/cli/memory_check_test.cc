#include "cli/memory_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/cli/offers.h"

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
TrainPlan OnGpu(DeviceInfo gpu) {
  TrainPlan plan;
  plan.host_memory_bytes = std::int64_t{1} << 50;
  plan.devices.push_back({std::move(gpu), nullptr});
  return plan;
}

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
  EXPECT_EQ(WhyNot({}, plan, spec), "it fits");
  plan.host_memory_bytes = 20'000'000;
  EXPECT_THAT(WhyNot({}, plan, spec), HasSubstr("of memory to train on 1 worker, and there are"));
}

TEST(CheckTrainingFits, RefusesANetworkThatAGpuHasNoRoomFor) {
  const ModelSpec spec{.inputs = 1000, .hidden = {100'000, 100'000}, .outputs = 10};
  EXPECT_THAT(WhyNot({}, OnGpu(CudaGpu("cuda.0", "")), spec),
              testing::MatchesRegex("this network needs [0-9]+ GB on cuda.0 and there are 40 GB; "
                                    "choose smaller layers with --hidden or fewer rows with "
                                    "--gpu-batch"));
  DeviceInfo unknown = CudaGpu("cuda.0", "");
  unknown.memory_bytes = 0;
  EXPECT_EQ(WhyNot({}, OnGpu(unknown), spec), "it fits");
}

TEST(CheckTrainingFits, RefusesABatchThatAGpuHasNoRoomFor) {
  const ModelSpec spec{.inputs = 1000, .hidden = {10'000}, .outputs = 10};
  TrainPlan plan = OnGpu(CudaGpu("cuda.0", ""));
  EXPECT_EQ(WhyNot({}, plan, spec), "it fits");
  plan.batches.gpu_batch = {.min = 1 << 20, .max = 1 << 20};
  EXPECT_THAT(WhyNot({}, plan, spec), HasSubstr("fewer rows with --gpu-batch"));
}

TEST(CheckTrainingFits, ReckonsWithTheStateOfTheOptimizerAndGradientsToStepTogether) {
  const ModelSpec spec{.inputs = 1000, .hidden = {42'000, 42'000}, .outputs = 10};
  EXPECT_EQ(WhyNot(With("sgd", 0, "hogbatch"), OnGpu(CudaGpu("cuda.0", "")), spec), "it fits");
  EXPECT_THAT(WhyNot(With("adam", 0, "hogbatch"), OnGpu(CudaGpu("cuda.0", "")), spec),
              HasSubstr("on cuda.0"));
  TrainPlan two = OnGpu(CudaGpu("cuda.0", ""));
  two.devices.push_back({CudaGpu("cuda.1", ""), nullptr});
  EXPECT_THAT(WhyNot(With("sgd", 0, "sync"), two, spec), HasSubstr("on cuda.0"));
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
