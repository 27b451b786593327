// Whole commands on GPUs that fail: through the CUDA plug-in over the stand-in for CUDA. A program
// that leaves something behind on a GPU ends with an exit code of the stand-in's.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/reports/records.h"
#include "tests/cli/on_gpu.h"

namespace hogbatch {
namespace {

using testing::HasSubstr;
using testing::Not;

class GpuFaults : public Gpu {
 protected:
  void SetUp() override {
    Use(kOnStandin);
    folder_.Write("data", TwoClasses(400));
  }
  Finished TrainOnIt() const {
    return Run({"train", "data", "--hidden", "8", "--epochs", "1", "--quiet", "--devices",
                kOnStandin.option, "--out", "o"});
  }
};

TEST_F(GpuFaults, TooLittleMemoryIsSaidBeforeATraining) {
  const ScopedVariable memory("HOGBATCH_STANDIN_MEMORY", "20000");
  const Finished finished = TrainOnIt();
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err,
              HasSubstr("GB on cuda.0 and there are 2e-05 GB; choose smaller layers"));
}

TEST_F(GpuFaults, ADriverThatIsTooOldIsSaid) {
  const ScopedVariable driver("HOGBATCH_STANDIN_DRIVER", "11020");
  const Finished finished = TrainOnIt();
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, HasSubstr("there is no cuda:0 here, only cpu: the NVIDIA driver "
                                      "supports CUDA 11.2"));
}

// A device that dies at one of its calls: while it is made, in the first update, later.
TEST_F(GpuFaults, ADeviceThatDiesIsNamedWithItsCallAndEndsTheCommandInOrder) {
  ASSERT_EQ(TrainOnIt().exit_code, 0);
  for (const char* call : {"8", "20", "60", "150", "250"}) {
    const ScopedVariable fail("HOGBATCH_STANDIN_FAIL", call);
    const Finished trained = TrainOnIt();
    EXPECT_EQ(trained.signal, 0);
    EXPECT_EQ(trained.exit_code, 1) << call << ": " << trained.err;
    EXPECT_THAT(trained.err, HasSubstr("hogbatch: worker cuda.0 failed: cuda.0"));
    EXPECT_THAT(trained.err, HasSubstr("its last worker failed"));
  }
}

TEST_F(GpuFaults, ADeviceThatDiesWhileItPredictsEndsTheCommandWithItsCall) {
  ASSERT_EQ(TrainOnIt().exit_code, 0);
  for (const char* call : {"20", "60"}) {
    const ScopedVariable fail("HOGBATCH_STANDIN_FAIL", call);
    for (const char* command : {"eval", "predict"}) {
      const Finished finished =
          Run({command, "o/model.safetensors", "data", "--devices", kOnStandin.option});
      EXPECT_EQ(finished.exit_code, 1) << call << ": " << finished.err;
      EXPECT_TRUE(finished.err.starts_with("hogbatch: cuda.0")) << finished.err;
      EXPECT_EQ(std::ranges::count(finished.err, '\n'), 1);
    }
  }
}

// A training of 360 rows, twice, on these devices; cuda.0 dies at that call.
class GpuDies : public GpuFaults {
 protected:
  Finished Train(const std::string& devices, int call) const {
    const ScopedVariable fail("HOGBATCH_STANDIN_FAIL", std::to_string(call));
    return Run({"train", "data", "--hidden", "8,8", "--epochs", "2", "--quiet", "--algorithm",
                "hogbatch", "--gpu-batch", "16", "--devices", devices, "--out", "o"});
  }
  std::int64_t Summed(const char* key) const {
    const std::string summary = folder_.Read("o/summary.json");
    return HasKey(summary, key) ? std::stoll(ValueOf(summary, key)) : 0;
  }
  static constexpr std::int64_t kRows = 720;
};

TEST_F(GpuDies, AloneAndWhatItHasLearntIsSaved) {
  int unmeasured = 0;
  for (int call = 25;; call = call * 3 / 2) {
    SCOPED_TRACE(call);
    const Finished trained = Train("cuda:0", call);
    if (trained.exit_code == 0) break;
    ASSERT_EQ(trained.exit_code, 1) << trained.err;
    EXPECT_THAT(trained.err, HasSubstr("hogbatch: worker cuda.0 failed: cuda.0"));
    EXPECT_THAT(trained.err, HasSubstr("its last worker failed"));
    const std::string summary = folder_.Read("o/summary.json");
    EXPECT_EQ(ValueOf(summary, "stopped_because"), "no_workers");
    EXPECT_TRUE(HasKey(summary, "failures_by_worker"));
    EXPECT_LE(Summed("examples") + Summed("lost_rows"), kRows);  // all: it died evaluating them
    // What it made since the last evaluation nobody could measure.
    unmeasured += Summed("updates") > 0 && !HasKey(summary, "best_epoch") ? 1 : 0;
    ASSERT_EQ(folder_.Has("o/model.safetensors"), Summed("updates") > 0);
    if (Summed("updates") == 0) continue;  // there is nothing to save
    const Finished opened = Run({"eval", "o/model.safetensors", "data", "--devices", "cpu:1"});
    EXPECT_EQ(opened.exit_code, 0) << opened.err;
  }
  EXPECT_EQ(Summed("examples"), kRows);
  EXPECT_GT(unmeasured, 3);
}

TEST_F(GpuDies, BesideACoreThatFinishesTheTraining) {
  for (const char* devices : {"cpu:1,cuda:0", "cpu:1,cuda:0,cuda:1"}) {
    int died = 0;
    for (const int call : {20, 60, 150, 250, 350, 450, 700}) {
      SCOPED_TRACE(call);
      const Finished trained = Train(devices, call);
      ASSERT_EQ(trained.exit_code, 0) << trained.err;
      const std::string summary = folder_.Read("o/summary.json");
      EXPECT_EQ(Summed("examples") + Summed("lost_rows"), kRows);
      EXPECT_EQ(ValueOf(summary, "stopped_because"), "epochs");
      EXPECT_TRUE(HasKey(summary, "best_epoch"));
      EXPECT_EQ(HasKey(summary, "failures_by_worker"), !trained.err.empty());
      if (trained.err.empty()) continue;  // there was little for a GPU to do
      ++died;
      EXPECT_THAT(trained.err, HasSubstr("failed and the others go on: "));
      EXPECT_THAT(summary.substr(summary.find("failures_by_worker")), HasSubstr("\"cuda."));
    }
    EXPECT_GT(died, 3);
  }
}

TEST(Summary, HasFailuresAndLostRowsWhereThereAreSome) {
  RunResult result;
  result.totals.workers = {{.name = "cpu.0"}, {.name = "cuda.0"}};
  EXPECT_THAT(SummaryText(result, {}, {}), Not(HasSubstr("failures_by_worker")));
  EXPECT_THAT(SummaryText(result, {}, {}), Not(HasSubstr("lost_rows")));
  result.totals.workers[1].failure = "it was unplugged";
  result.totals.lost_rows = 17;
  const std::string summary = SummaryText(result, {}, {});
  EXPECT_EQ(ValueOf(summary.substr(summary.find("failures_by_worker")), "cuda.0"),
            "it was unplugged");
  EXPECT_EQ(ValueOf(summary, "lost_rows"), "17");
}

}  // namespace
}  // namespace hogbatch
