#include "training/calibration/gpu_calibration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "core/error.h"
#include "cpu/cpu.h"
#include "datasets/synthetic.h"
#include "tests/support/detected_devices.h"
#include "tests/support/observers.h"
#include "tests/support/process.h"
#include "tests/support/strict_device.h"
#include "training/calibration/update_timer.h"
#include "training/train.h"

namespace hogbatch {
namespace {

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

class CalibrateGpusOf : public testing::Test {
 protected:
  CalibrateGpusOf() : cache_("XDG_CACHE_HOME", folder_.path()) {
    input_.training = MakeSynthetic({.rows = 300, .features = 8, .classes = 3});
    plan_.work.model = {.inputs = 8, .hidden = {6}, .outputs = 3};
    plan_.algorithm = "adaptive";
    plan_.batches.gpu_batch = {.min = 64, .max = 128};
    plan_.work.devices.push_back(
        {Processor(), []() -> std::unique_ptr<Device> { throw DeviceError("not a GPU"); }});
  }

  GpuCalibrations Run() {
    plan_.max_batch_sizes.assign(plan_.work.devices.size(), 0);
    return CalibrateGpus({.work = plan_.work,
                          .data = input_.training,
                          .gpu_batch = plan_.batches.gpu_batch,
                          .max_batch_sizes = plan_.max_batch_sizes,
                          .make_memory = [&] { return MakeMemory(plan_, input_); }},
                         0.5, observer_);
  }

  QuietObserver observer_;
  TemporaryFolder folder_;
  ScopedVariable cache_;
  TrainingInput input_;
  TrainingPlan plan_;
};

TEST_F(CalibrateGpusOf, LikeKindsFindsTheSmallestBatchOnce) {
  plan_.work.devices.push_back(StrictGpu("cuda.0"));
  plan_.work.devices.push_back(StrictGpu("cuda.1"));
  const GpuCalibrations found = Run();
  ASSERT_EQ(found.gpus.size(), 1);
  EXPECT_EQ(found.gpus[0].name, "cuda.0");
  EXPECT_FALSE(found.gpus[0].cached);
  EXPECT_GT(found.gpus[0].bound.best.rows_per_second, 0);
  EXPECT_GE(found.smallest_batch, 4);
  EXPECT_LE(found.smallest_batch, 128);
  EXPECT_TRUE(Run().gpus[0].cached);
}

TEST_F(CalibrateGpusOf, AGpuThatFailsKeepsTheUsualBatch) {
  plan_.work.devices.push_back(BrokenGpu("cuda.0"));
  const GpuCalibrations found = Run();
  EXPECT_THAT(found.gpus, IsEmpty());
  EXPECT_THAT(observer_.warnings,
              testing::HasSubstr("cuda.0 could not be calibrated, so its updates have 64 rows or "
                                 "more: the device is lost"));
  EXPECT_EQ(found.smallest_batch, 64);
}

TEST_F(CalibrateGpusOf, SeveralKindsGoesByTheGpuThatNeedsTheMostRows) {
  plan_.work.devices.push_back(StrictGpu("cuda.0"));
  plan_.work.devices.push_back(BrokenGpu("cuda.1"));
  plan_.batches.gpu_batch = {.min = 64, .max = 64};
  EXPECT_EQ(Run().smallest_batch, 64);
}

TEST_F(CalibrateGpusOf, SparseDataTimesBatchesUpToAllRows) {
  input_.training = MakeSynthetic({.rows = 300, .features = 50, .nonzeros = 4, .classes = 3});
  plan_.work.model = {.inputs = 50, .hidden = {6}, .outputs = 3, .sparse_input = true};
  const std::int64_t rows_to_train = input_.training.train_rows;
  for (const int depth : {1, 2}) {
    const SecondsPerUpdate seconds =
        MakeUpdateTimer(MakeMemory(plan_, input_),
                        [&] {
                          DeviceInfo core = Processor();
                          core.depth = depth;
                          return MakeStrictDevice(cpu::MakeDevice(core), DeviceKind::kCuda);
                        },
                        {.train = rows_to_train, .merge = depth == 2 ? 128 : 1});
    for (const std::int64_t rows : {std::int64_t{16}, std::int64_t{64}, rows_to_train}) {
      const double took = seconds(rows);
      EXPECT_TRUE(std::isfinite(took) && took > 0) << rows;
    }
  }
}

}  // namespace
}  // namespace hogbatch
