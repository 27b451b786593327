#include "cli/reports/introduce.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cli/teams.h"
#include "tests/support/detected_devices.h"

namespace hogbatch {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TrainingPlan On(const std::vector<DeviceInfo>& devices, const std::string& algorithm) {
  TrainingPlan plan{.work = {.model = {.inputs = 4, .hidden = {3}, .outputs = 2}},
                    .algorithm = algorithm};
  for (const DeviceInfo& info : devices) plan.work.devices.push_back({info, {}});
  plan.batches.cpu_batch = {.min = 1, .max = 64};
  plan.batches.gpu_batch = {.min = 64, .max = 8192};
  return plan;
}

DeviceInfo Core(int index) {
  DeviceInfo info = Processor();
  info.name = "cpu." + std::to_string(index);
  return info;
}

TrainingPlan OnCores(const std::string& algorithm) { return On({Core(0), Core(1)}, algorithm); }
TrainingPlan OnCoresAndGpu(const std::string& algorithm) {
  return On({Core(0), Core(1), CudaGpu("cuda.0", "")}, algorithm);
}

// The line that begins with `label`, without it; empty: there is none.
std::string Line(const std::vector<std::string>& lines, const std::string& label) {
  const auto found = std::ranges::find_if(
      lines, [&](const std::string& line) { return line.starts_with(label + " "); });
  return found == lines.end() ? "" : found->substr(10);
}

std::string Introduced(const TrainingSpec& spec, const TrainingPlan& plan,
                       const std::string& label) {
  return Line(IntroductionLines(spec, plan, {}, "runs/x"), label);
}

TEST(Introduction, NamesTheLabelColumnOfACsv) {
  const auto data_line = [](FileFormat format, const char* column, const char* name) {
    TrainingInput input;
    input.training.schema.format = format;
    input.training.schema.label_column = column;
    input.training.schema.label_name = name;
    return Line(IntroductionLines({}, OnCores("hogbatch"), input, "runs/x"), "data");
  };
  EXPECT_THAT(data_line(FileFormat::kCsv, "last", "Cover_Type"),
              HasSubstr(", label Cover_Type (last), "));
  EXPECT_THAT(data_line(FileFormat::kCsv, "Cover_Type", "Cover_Type"),
              HasSubstr(", label Cover_Type, "));
  EXPECT_THAT(data_line(FileFormat::kCsv, "3", "kind"), HasSubstr(", label kind (column 3), "));
  EXPECT_THAT(data_line(FileFormat::kCsv, "first", ""), HasSubstr(", label first column, "));
  EXPECT_THAT(data_line(FileFormat::kCsv, "3", ""), HasSubstr(", label column 3, "));
  EXPECT_THAT(data_line(FileFormat::kLibsvm, "", ""), Not(HasSubstr("label ")));
}

TEST(Introduction, ShowsTheRangesOfAnAlgorithmThatAdapts) {
  EXPECT_THAT(Introduced({}, OnCoresAndGpu("adaptive"), "training"),
              HasSubstr("adaptive on cpu.0 to cpu.1 (AMD EPYC, AVX2), 1 to 64 rows per update; "
                        "cuda.0 (NVIDIA A100), 64 to 8192 rows per update, sgd"));
}

TEST(Introduction, ShowsTheSizesOfAnAlgorithmThatDoesNot) {
  EXPECT_THAT(Introduced({}, OnCoresAndGpu("hogbatch"), "training"),
              HasSubstr("hogbatch on cpu.0 to cpu.1 (AMD EPYC, AVX2), 16 rows per update; cuda.0 "
                        "(NVIDIA A100), 512 rows per update, sgd"));
  EXPECT_THAT(Introduced({}, OnCores("hogbatch"), "training"),
              HasSubstr("hogbatch on cpu.0 to cpu.1 (AMD EPYC, AVX2), 16 rows per update, sgd"));
}

TEST(Introduction, NamesTheMergeWhenItIsNotTheUsualOne) {
  TrainingPlan plan = OnCoresAndGpu("adaptive");
  EXPECT_THAT(Introduced({}, plan, "training"), Not(HasSubstr("merged")));
  TrainingSpec spec;
  spec.merge = "overwrite";
  plan.merge = Merge::kOverwrite;
  EXPECT_THAT(Introduced(spec, plan, "training"),
              HasSubstr("rows per update, merged by overwrite, sgd"));
}

TEST(Introduction, SaysOfWhatHasNoEffectThatItHasNone) {
  TrainingSpec spec;
  EXPECT_THAT(Introduced(spec, OnCoresAndGpu("adaptive"), "note"), IsEmpty());
  EXPECT_THAT(Introduced(spec, OnCores("hogbatch"), "note"), IsEmpty());
  SetOption(spec, "alpha", "3");
  EXPECT_THAT(Introduced(spec, OnCoresAndGpu("adaptive"), "note"), IsEmpty());
  EXPECT_THAT(Introduced(spec, OnCores("hogbatch"), "note"),
              HasSubstr("--alpha is for --algorithm adaptive"));
  EXPECT_THAT(Introduced(spec, OnCores("adaptive"), "note"), HasSubstr("batch sizes stay fixed"));
  EXPECT_THAT(Introduced(spec, OnCores("adaptive"), "training"), HasSubstr("16 rows per update"));
  spec.merge = "average";
  EXPECT_THAT(Introduced(spec, OnCores("hogbatch"), "note"),
              HasSubstr("--merge average is for GPUs"));
}

TEST(Introduction, TellsOfABatchThatMemoryCuts) {
  TrainingPlan plan = OnCoresAndGpu("adaptive");
  plan.work.gpu_batch = {.min = 64, .max = 8192};
  plan.max_batch_sizes = {0, 0, 8192};
  EXPECT_THAT(Introduced({}, plan, "note"), IsEmpty());
  plan.max_batch_sizes = {0, 0, 1000};
  EXPECT_EQ(Introduced({}, plan, "note"),
            "cuda.0 has room for 1,000 rows per update, fewer than --gpu-batch 8192");
}

TEST(Introduction, TellsWhatWasMeasured) {
  TrainingPlan plan = OnCoresAndGpu("adaptive");
  plan.calibrated = {
      {.name = "cuda.0", .bound = {.rows = 128, .best = {.rows = 2048, .rows_per_second = 4100}}}};
  EXPECT_EQ(
      Introduced({}, plan, "measured"),
      "cuda.0: 128 rows per update reach 50 % of its best throughput, 4,100 rows/s (at 2,048)");
  plan.calibrated[0].cached = true;
  EXPECT_THAT(Introduced({}, plan, "measured"), HasSubstr("(cached)"));
}

TEST(Conclusion, TellsOfTeamsBetweenWhyItStoppedAndWhatWasSaved) {
  TrainedModel trained{.model = SavedModel(), .run = {}};
  trained.run.totals = Unbalanced();
  const std::vector<std::string> lines = ConclusionLines(trained, {}, "runs/x");
  ASSERT_EQ(lines.size(), 5u);
  const char* const labels[] = {"stopped ", "teams ", "bounds ", "merging ", "model "};
  for (std::size_t i = 0; i < lines.size(); ++i) EXPECT_THAT(lines[i], HasSubstr(labels[i]));
}

TEST(Conclusion, OfARunThatWentBackToItsStartIsThatItDiverged) {
  TrainedModel trained{.model = SavedModel(), .run = {.stopped_because = StopReason::kEpochs}};
  trained.run.saved = Evaluation{.epoch = 0};
  EXPECT_FALSE(NeverImproved(trained.run));
  trained.run.rate_factor = 0.25;
  EXPECT_TRUE(NeverImproved(trained.run));
  EXPECT_EQ(DivergenceAdvice(trained, 100),
            "training diverged, and no model after that is better than the initial one, which was "
            "saved; try a lower learning rate such as --lr 2.5, --warmup 1, or --scale standard");
  trained.run.saved->epoch = 0.5;
  EXPECT_FALSE(NeverImproved(trained.run));
}

TEST(Conclusion, OfOneTeamStaysShort) {
  TrainedModel trained{.model = SavedModel(), .run = {}};
  trained.run.totals = CoresAndGpu();
  trained.run.totals.teams.resize(1);
  EXPECT_EQ(ConclusionLines(trained, {}, "runs/x").size(), 2u);
}

}  // namespace
}  // namespace hogbatch
