#include "training/gpu_calibration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "core/error.h"
#include "cpu/cpu.h"
#include "datasets/synthetic.h"
#include "nn/initialize.h"
#include "tests/support/offers.h"
#include "tests/support/process.h"
#include "tests/support/strict_device.h"
#include "training/update_timer.h"

namespace hogbatch {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A GPU that overlaps two updates and takes the contract of devices at its word.
DeviceChoice StrictGpu(const std::string& name) {
  DeviceInfo info = CudaGpu(name, "");
  info.depth = 2;
  return {info, [info] {
            DeviceInfo core = Processor();
            core.depth = info.depth;
            return MakeStrictDevice(cpu::MakeDevice(core), DeviceKind::kCuda);
          }};
}

DeviceChoice BrokenGpu(const std::string& name) {
  DeviceChoice broken{CudaGpu(name, ""), nullptr};
  broken.info.description = "NVIDIA V100";
  broken.make = []() -> std::unique_ptr<Device> { throw DeviceError("the device is lost"); };
  return broken;
}

class SilentObserver final : public TrainingObserver {
 public:
  void OnProgress(const Progress&) override {}
  void OnWorkerFailed(std::string_view, std::string_view) override {}
  void OnWarning(std::string_view sentence) override { warnings += sentence; }

  std::string warnings;
};

class CalibrateGpus : public testing::Test {
 protected:
  CalibrateGpus() : cache_("XDG_CACHE_HOME", folder_.path()) {
    spec_ = {.inputs = 8, .hidden = {6}, .outputs = 3};
    options_.algorithm = "adaptive";
    plan_.calibrate_gpu_batch = true;
    plan_.batches.gpu_batch = {.min = 64, .max = 128};
    plan_.devices.push_back(
        {Processor(), []() -> std::unique_ptr<Device> { throw DeviceError("not a GPU"); }});
  }

  std::vector<std::string> Run() {
    plan_.max_batch_size.assign(plan_.devices.size(), 0);
    return CalibrateGpuBatch(
        options_, plan_, spec_, training_, [&] { return Memory(); }, observer_);
  }

  std::unique_ptr<JobMemory> Memory() {
    ++memories_;
    auto memory = std::make_unique<JobMemory>(spec_, training_.data, nullptr,
                                              static_cast<int>(plan_.devices.size()));
    const ParameterLayout layout = Layout(spec_);
    std::vector<float> weights(static_cast<std::size_t>(layout.floats));
    Initialize(layout, Initialization::kHe, 1, weights);
    memory->SetWeights(weights);
    return memory;
  }

  SilentObserver observer_;
  TemporaryFolder folder_;
  ScopedVariable cache_;
  TrainingData training_ = MakeSynthetic({.rows = 300, .features = 8, .classes = 3});
  ModelSpec spec_;
  TrainOptions options_;
  TrainPlan plan_;
  int memories_ = 0;
};

TEST_F(CalibrateGpus, FindsTheSmallestBatchOnceForGpusThatAreAlike) {
  plan_.devices.push_back(StrictGpu("cuda.0"));
  plan_.devices.push_back(StrictGpu("cuda.1"));
  EXPECT_THAT(Run(), ElementsAre(testing::MatchesRegex(
                         "measured  cuda.0: [0-9]+ rows per update reach 50 % of its best "
                         "[0-9,]+ rows/s .at [0-9]+.")));
  EXPECT_GE(plan_.batches.gpu_batch.min, 4);
  EXPECT_LE(plan_.batches.gpu_batch.min, 128);
  EXPECT_EQ(plan_.batches.gpu_batch.max, 128);
  EXPECT_EQ(memories_, 1);
  EXPECT_THAT(Run(), ElementsAre(testing::HasSubstr("(cached)")));
  EXPECT_EQ(memories_, 1);
}

TEST_F(CalibrateGpus, KeepsTheUsualBatchOfAGpuThatFails) {
  plan_.devices.push_back(BrokenGpu("cuda.0"));
  EXPECT_THAT(Run(), IsEmpty());
  EXPECT_THAT(observer_.warnings,
              testing::HasSubstr("cuda.0 could not be calibrated, so its updates have 64 rows or "
                                 "more: the device is lost"));
  EXPECT_EQ(plan_.batches.gpu_batch.min, 64);
}

TEST_F(CalibrateGpus, GoesByTheGpuThatNeedsTheMostRows) {
  plan_.devices.push_back(StrictGpu("cuda.0"));
  plan_.devices.push_back(BrokenGpu("cuda.1"));
  plan_.batches.gpu_batch = {.min = 64, .max = 64};
  Run();
  EXPECT_EQ(plan_.batches.gpu_batch.min, 64);
}

TEST_F(CalibrateGpus, IsLeftOutWhereNothingAdapts) {
  plan_.devices.push_back(StrictGpu("cuda.0"));
  const auto nothing_happens = [&] {
    EXPECT_THAT(Run(), IsEmpty());
    EXPECT_EQ(plan_.batches.gpu_batch.min, 64);
    EXPECT_EQ(memories_, 0);
  };
  options_.algorithm = "hogbatch";
  nothing_happens();
  options_.algorithm = "adaptive";
  plan_.calibrate_gpu_batch = false;
  nothing_happens();
  plan_.calibrate_gpu_batch = true;
  plan_.devices.erase(plan_.devices.begin());  // one team alone
  nothing_happens();
}

TEST_F(CalibrateGpus, TimesBatchesUpToAllRowsOfSparseDataToo) {
  training_ = MakeSynthetic({.rows = 300, .features = 50, .nonzeros = 4, .classes = 3});
  spec_ = {.inputs = 50, .hidden = {6}, .outputs = 3, .sparse_input = true};
  for (const int depth : {1, 2}) {
    const SecondsPerUpdate seconds =
        MakeUpdateTimer(Memory(),
                        [&] {
                          DeviceInfo core = Processor();
                          core.depth = depth;
                          return MakeStrictDevice(cpu::MakeDevice(core), DeviceKind::kCuda);
                        },
                        {.train = training_.train_rows, .merge = depth == 2 ? 128 : 1});
    for (const std::int64_t rows : {std::int64_t{16}, std::int64_t{64}, training_.train_rows}) {
      const double took = seconds(rows);
      EXPECT_TRUE(std::isfinite(took) && took > 0) << rows;
    }
  }
}

}  // namespace
}  // namespace hogbatch
