#include "cli/introduce.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cli/teams.h"
#include "tests/support/offers.h"

namespace hogbatch {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TrainPlan On(const std::vector<DeviceInfo>& devices) {
  TrainPlan plan;
  for (const DeviceInfo& info : devices) plan.devices.push_back({info, {}});
  plan.batches.cpu_batch = {.min = 1, .max = 64};
  plan.batches.gpu_batch = {.min = 64, .max = 8192};
  return plan;
}

DeviceInfo Core(int index) {
  DeviceInfo info = Processor();
  info.name = "cpu." + std::to_string(index);
  return info;
}

TrainPlan OnCores() { return On({Core(0), Core(1)}); }
TrainPlan OnCoresAndGpu() { return On({Core(0), Core(1), CudaGpu("cuda.0", "")}); }

// The line that begins with `label`, without it; empty: there is none.
std::string Line(const std::vector<std::string>& lines, const std::string& label) {
  const auto found = std::ranges::find_if(
      lines, [&](const std::string& line) { return line.starts_with(label + " "); });
  return found == lines.end() ? "" : found->substr(10);
}

std::string Introduced(const TrainOptions& options, const TrainPlan& plan,
                       const std::string& label) {
  const ModelSpec spec{.inputs = 4, .hidden = {3}, .outputs = 2};
  return Line(IntroductionLines(options, plan, {}, nullptr, spec, "runs/x"), label);
}

TEST(Introduction, ShowsTheRangesOfAnAlgorithmThatAdapts) {
  TrainOptions options;
  options.algorithm = "adaptive";
  EXPECT_THAT(Introduced(options, OnCoresAndGpu(), "training"),
              HasSubstr("adaptive on cpu.0 to cpu.1 (AMD EPYC, AVX2), 1 to 64 rows per update; "
                        "cuda.0 (NVIDIA A100), 64 to 8192 rows per update, sgd"));
}

TEST(Introduction, ShowsTheSizesOfAnAlgorithmThatDoesNot) {
  TrainOptions options;
  options.algorithm = "hogbatch";
  EXPECT_THAT(Introduced(options, OnCoresAndGpu(), "training"),
              HasSubstr("hogbatch on cpu.0 to cpu.1 (AMD EPYC, AVX2), 16 rows per update; cuda.0 "
                        "(NVIDIA A100), 512 rows per update, sgd"));
  EXPECT_THAT(Introduced(options, OnCores(), "training"),
              HasSubstr("hogbatch on cpu.0 to cpu.1 (AMD EPYC, AVX2), 16 rows per update, sgd"));
}

TEST(Introduction, NamesTheMergeWhenItIsNotTheUsualOne) {
  TrainOptions options;
  options.algorithm = "adaptive";
  EXPECT_THAT(Introduced(options, OnCoresAndGpu(), "training"), Not(HasSubstr("merged")));
  options.merge = "overwrite";
  EXPECT_THAT(Introduced(options, OnCoresAndGpu(), "training"),
              HasSubstr("rows per update, merged by overwrite, sgd"));
}

TEST(Introduction, SaysOfWhatHasNoEffectThatItHasNone) {
  TrainOptions together, alone;
  together.algorithm = "adaptive";
  alone.algorithm = "hogbatch";
  EXPECT_THAT(Introduced(together, OnCoresAndGpu(), "note"), IsEmpty());
  EXPECT_THAT(Introduced(alone, OnCores(), "note"), IsEmpty());
  together.adaptive.alpha = alone.adaptive.alpha = 3;
  EXPECT_THAT(Introduced(together, OnCoresAndGpu(), "note"), IsEmpty());
  EXPECT_THAT(Introduced(alone, OnCores(), "note"), HasSubstr("are for --algorithm adaptive"));
  alone.merge = "average";
  EXPECT_THAT(Introduced(alone, OnCores(), "note"), HasSubstr("--merge average is for GPUs"));
  EXPECT_THAT(Introduced(together, OnCores(), "note"), HasSubstr("rows per update stay"));
  EXPECT_THAT(Introduced(together, OnCores(), "training"), HasSubstr("16 rows per update"));
}

TEST(Conclusion, TellsOfTeamsBetweenWhyItStoppedAndWhatWasSaved) {
  RunResult result;
  result.totals = Unbalanced();
  result.parameters = {1};
  const std::vector<std::string> lines = ConclusionLines(result, {}, "runs/x");
  ASSERT_EQ(lines.size(), 5u);
  const char* const labels[] = {"stopped ", "teams ", "bounds ", "merging ", "model "};
  for (std::size_t i = 0; i < lines.size(); ++i) EXPECT_THAT(lines[i], HasSubstr(labels[i]));
}

TEST(Conclusion, OfOneTeamStaysShort) {
  RunResult result;
  result.totals = CoresAndGpu();
  result.totals.teams.resize(1);
  result.parameters = {1};
  EXPECT_EQ(ConclusionLines(result, {}, "runs/x").size(), 2u);
}

}  // namespace
}  // namespace hogbatch
