// Sweeps on GPU devices, alone and beside cores.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text.h"
#include "tests/cli/on_gpu.h"

namespace hogbatch {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class SweepOnGpu : public Gpu, public testing::WithParamInterface<Ground> {
 protected:
  void SetUp() override {
    Use(GetParam());
    folder_.Write("rows.svm", TwoClasses(1000));
  }

  Finished Sweep(const std::string& devices, const std::string& out) const {
    return Run({"sweep", "rows.svm", "--lr", "0.001|0.01|0.05|0.1", "--momentum", "0|0.9",
                "--hidden", "8", "--epochs", "3", "--cpu-batch", "16", "--gpu-batch", "16",
                "--devices", devices, "--out", out});
  }
};

TEST_P(SweepOnGpu, TrainsAllTrialsAsOneBlock) {
  const Finished swept = Sweep(GetParam().option, "s");
  ASSERT_EQ(swept.exit_code, 0) << swept.err;
  EXPECT_EQ(swept.err, "");
  EXPECT_THAT(swept.out, HasSubstr("8 trials in 1 block of 8 lanes on 1 device"));
  EXPECT_THAT(swept.out, HasSubstr("8 of 8 trials done"));
  const Finished on_cores = Sweep("cpu:1", "c");
  ASSERT_EQ(on_cores.exit_code, 0) << on_cores.err;
  const auto best = [&](const std::string& folder) {
    return SplitLines(folder_.Read(folder + "/trials.csv"))[1].substr(0, 20);
  };
  EXPECT_EQ(best("s").substr(0, 6), best("c").substr(0, 6));
}

TEST_P(SweepOnGpu, SharesTrialsWithCores) {
  const Finished swept = Sweep(std::string("cpu:1,") + GetParam().option, "m");
  ASSERT_EQ(swept.exit_code, 0) << swept.err;
  EXPECT_EQ(swept.err, "");
  EXPECT_THAT(swept.out, HasSubstr("8 trials in 2 blocks of 4 lanes on 2 devices"));
  EXPECT_THAT(swept.out, HasSubstr("8 of 8 trials done"));
  EXPECT_THAT(SplitLines(folder_.Read("m/trials.csv")), SizeIs(9));
  const Finished eval = Run({"eval", "m/model.safetensors", "rows.svm", "--devices", "cpu:1"});
  EXPECT_EQ(eval.exit_code, 0) << eval.err;
}

INSTANTIATE_TEST_SUITE_P(All, SweepOnGpu, testing::Values(kOnOpenCl, kOnStandin),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace hogbatch
