#include "algorithms/batch_range.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "core/error.h"

namespace hogbatch {
namespace {

std::string WhyNot(const std::function<void()>& parse) {
  try {
    parse();
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(ParseBatchRange, TakesOneNumberOrTwo) {
  EXPECT_EQ(ParseBatchRange("--b", "8").min, 8);
  EXPECT_EQ(ParseBatchRange("--b", "8").max, 8);
  EXPECT_EQ(ParseBatchRange("--b", "1:64").max, 64);
  for (const char* bad : {"", "0", "3:2", ":", "1:", ":5", "1:2:3", "x", "99999999", "auto",
                          "auto:64", "-1:5", "0:5"}) {
    EXPECT_THROW(ParseBatchRange("--b", bad), UserError) << bad;
  }
}

TEST(ParseBatchRange, SaysWhatIsWrongAndWhatToWrite) {
  EXPECT_EQ(WhyNot([] { ParseBatchRange("--cpu-batch", "64:1"); }),
            "--cpu-batch 64:1: the minimum comes first; did you mean 1:64?");
  EXPECT_EQ(WhyNot([] { ParseBatchRange("--cpu-batch", "auto:64"); }),
            "--cpu-batch takes ROWS or MIN:MAX, not 'auto:64': only a GPU's minimum is measured");
  EXPECT_EQ(WhyNot([] { ParseGpuBatch("--gpu-batch", "64:auto"); }),
            "--gpu-batch measures its minimum, not its maximum: write auto:MAX, not '64:auto'");
  EXPECT_EQ(WhyNot([] { ParseGpuBatch("--gpu-batch", "auto:x"); }),
            "--gpu-batch needs rows between 1 and 1048576, as ROWS, MIN:MAX or auto:MAX, not "
            "'auto:x'");
}

TEST(ParseGpuBatch, LeavesTheMinimumToAMeasurementWhenItIsAuto) {
  const GpuBatch usual = ParseGpuBatch("--b", "auto");
  EXPECT_TRUE(usual.calibrate_min);
  EXPECT_EQ(usual.range.min, 64);
  EXPECT_EQ(usual.range.max, 8192);
  const GpuBatch small = ParseGpuBatch("--b", "auto:20");
  EXPECT_TRUE(small.calibrate_min);
  EXPECT_EQ(small.range.min, 20);
  EXPECT_EQ(small.range.max, 20);
}

TEST(ParseGpuBatch, TakesWhatIsGivenAsItIs) {
  EXPECT_FALSE(ParseGpuBatch("--b", "512").calibrate_min);
  EXPECT_EQ(ParseGpuBatch("--b", "512").range.max, 512);
  EXPECT_EQ(ParseGpuBatch("--b", "4:8192").range.min, 4);
  for (const char* bad : {"", "auto:", "auto:0", "auto:1:2", "auto:auto", "4:auto", "Auto", "auto8",
                          "autos:8", "auto:9999999"}) {
    EXPECT_THROW(ParseGpuBatch("--b", bad), UserError) << bad;
  }
}

TEST(BatchOptions, AreReadBackAsTheDefaults) {
  const BatchOptions options;
  EXPECT_EQ(options.cpu_batch, "1:64");
  EXPECT_EQ(options.gpu_batch, "auto:8192");
  EXPECT_EQ(ParseBatchRange("--b", options.cpu_batch).max, kDefaultCpuBatch.max);
  const GpuBatch gpu = ParseGpuBatch("--b", options.gpu_batch);
  EXPECT_EQ(gpu.range.min, kDefaultGpuBatch.min);
  EXPECT_TRUE(gpu.calibrate_min);
  EXPECT_EQ(Text(ParseGpuBatch("--b", "4:100")), "4:100");
}

}  // namespace
}  // namespace hogbatch
