// Whole commands on GPU devices, as users give them: through OpenCL (PoCL where there is no GPU),
// and through the CUDA plug-in over the stand-in for CUDA.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <ostream>
#include <tuple>

#include "tests/cli/on_gpu.h"

namespace hogbatch {
namespace {

using testing::Combine;
using testing::HasSubstr;
using testing::ValuesIn;

// Rows with few of 90 features: classes, or several labels a row.
std::string SparseRows(bool (*second_label)(int row)) {
  std::string text;
  for (int row = 0; row < 600; ++row) {
    const int first = row * 7 % 40;
    text += fmt::format("{}", first % 5);
    if (second_label(row)) text += fmt::format(",{}", 5 + row % 2);
    text += fmt::format(" {}:{:.3f} {}:1 {}:0.5\n", first + 1, 0.2 + 0.1 * (row % 7), first + 41,
                        81 + row % 10);
  }
  return text;
}

// Rows of three numbers and what follows from them: a number, or which of three classes it is in.
enum class Learnt { kClasses, kValues };
std::string DenseRows(Learnt learnt) {
  std::string text;
  for (int row = 0; row < 600; ++row) {
    const double x = std::sin(row), y = std::cos(3 * row), z = std::sin(7 * row);
    const double value = x * y + 0.3 * z;
    text += fmt::format("{:.5f},{:.5f},{:.5f},", x, y, z);
    text += learnt == Learnt::kClasses ? fmt::format("{}\n", value < -0.3  ? 0
                                                             : value < 0.3 ? 1
                                                                           : 2)
                                       : fmt::format("{:.6f}\n", value);
  }
  return text;
}

struct Problem {
  const char* name;
  std::string data;
  std::vector<std::string> options;
  friend void PrintTo(const Problem& problem, std::ostream* out) { *out << problem.name; }
};

std::vector<Problem> Problems() {
  return {
      {"DenseClasses", DenseRows(Learnt::kClasses), {"--optimizer", "adam", "--lr", "0.01"}},
      {"DenseValues", DenseRows(Learnt::kValues), {"--momentum", "0.5", "--activation", "gelu"}},
      {"SparseClasses", SparseRows([](int) { return false; }), {"--momentum", "0.5"}},
      {"SparseLabels",
       SparseRows([](int row) { return row % 3 > 0; }),
       {"--activation", "tanh", "--class-weights", "balanced"}},
  };
}

class GpuTrains : public Gpu, public testing::WithParamInterface<std::tuple<Ground, Problem>> {
 protected:
  void SetUp() override { Use(std::get<Ground>(GetParam())); }
};

TEST_P(GpuTrains, ToTheLossesOfTheProcessor) {
  const auto& [ground, problem] = GetParam();
  folder_.Write("data", problem.data);
  const std::string gpu = Train("g", ground.option, problem.options);
  const std::string cpu = Train("c", "cpu:1", problem.options);
  EXPECT_EQ(ValueOf(gpu, "updates"), ValueOf(cpu, "updates"));
  for (const char* loss : {"train_loss", "valid_loss"}) {
    const double expected = std::stod(ValueOf(cpu, loss));
    EXPECT_NEAR(std::stod(ValueOf(gpu, loss)), expected, 1e-5 * expected) << loss;
  }
  EXPECT_TRUE(HasKey(gpu, ground.device));
}

INSTANTIATE_TEST_SUITE_P(All, GpuTrains,
                         Combine(testing::Values(kOnOpenCl, kOnStandin), ValuesIn(Problems())),
                         [](const auto& one) {
                           return fmt::format("{}{}", std::get<Ground>(one.param).name,
                                              std::get<Problem>(one.param).name);
                         });

class GpuCommands : public Gpu, public testing::WithParamInterface<Ground> {
 protected:
  void SetUp() override { Use(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(All, GpuCommands, testing::Values(kOnOpenCl, kOnStandin),
                         [](const auto& one) { return one.param.name; });

TEST_P(GpuCommands, TrainWithoutWaitingAndSayOnWhat) {
  folder_.Write("data", TwoClasses(400));
  const Finished finished = Run({"train", "data", "--hidden", "8", "--epochs", "20", "--gpu-batch",
                                 "32", "--devices", GetParam().option, "--out", "o"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(finished.err, "");
  EXPECT_THAT(finished.out, HasSubstr(fmt::format("hogbatch on {} (", GetParam().device)));
  EXPECT_THAT(finished.out, HasSubstr("), 32 rows per update, sgd"));
  EXPECT_EQ(ValueOf(folder_.Read("o/summary.json"), "valid_accuracy"), "1.0");
}

TEST_P(GpuCommands, EvalAndPredictAgreeWithTheProcessor) {
  folder_.Write("data", DenseRows(Learnt::kClasses));
  Train("o", "cpu:1");
  const auto on = [&](const std::string& devices, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin() + 1, {"o/model.safetensors", "data", "--devices", devices});
    const Finished finished = Run(arguments);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return finished.out;
  };
  const std::string cpu = on("cpu:1", {"eval", "--json"});
  const std::string gpu = on(GetParam().option, {"eval", "--json"});
  EXPECT_NEAR(std::stod(ValueOf(gpu, "loss")), std::stod(ValueOf(cpu, "loss")), 1e-6);
  EXPECT_EQ(ValueOf(gpu, "accuracy"), ValueOf(cpu, "accuracy"));
  EXPECT_EQ(on(GetParam().option, {"predict"}), on("cpu:1", {"predict"}));
}

TEST_P(GpuCommands, TrainOneModelTogetherWithCoresAndAdaptTheirSizes) {
  folder_.Write("data", TwoClasses(2000));
  const std::string devices = fmt::format("cpu:1,{}", GetParam().option);
  const Finished finished = Run({"train", "data", "--hidden", "8", "--epochs", "10", "--devices",
                                 devices, "--gpu-batch", "8:64", "--out", "o"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("training  adaptive on cpu.0 ("));
  EXPECT_THAT(finished.out,
              HasSubstr(fmt::format("1 to 64 rows per update; {} (", GetParam().device)));
  EXPECT_THAT(finished.out, HasSubstr("8 to 64 rows per update, sgd"));
  EXPECT_THAT(finished.out, HasSubstr("\nteams     cpu "));
  const std::string summary = folder_.Read("o/summary.json");
  EXPECT_EQ(ValueOf(summary, "examples"), "18000");
  EXPECT_EQ(ValueOf(summary, "algorithm"), "adaptive");
  for (const std::string& text : {summary, folder_.Read("o/metrics.jsonl")}) {
    EXPECT_TRUE(HasKey(text, "cpu.0") && HasKey(text, GetParam().device)) << text;
    for (const char* key : {"updates_by_worker", "batch_rows_by_worker", "busy_fraction_by_worker",
                            "update_share_by_team", "rows_per_second_by_team", "bounds_hit"}) {
      EXPECT_TRUE(HasKey(text, key)) << key;
    }
  }
}

TEST_P(GpuCommands, TrainTogetherAtFixedSizesAndMergeAsAsked) {
  folder_.Write("data", TwoClasses(2000));
  const std::string devices = fmt::format("cpu:1,{}", GetParam().option);
  const Finished finished =
      Run({"train", "data", "--hidden", "8", "--epochs", "2", "--devices", devices, "--algorithm",
           "hogbatch", "--gpu-batch", "64", "--merge", "average", "--out", "o"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr(fmt::format("16 rows per update; {} (", GetParam().device)));
  EXPECT_THAT(finished.out, HasSubstr("64 rows per update, merged by average, sgd"));
}

TEST_P(GpuCommands, RefuseAnAbsentDeviceAndNameThosePresent) {
  folder_.Write("data", TwoClasses(40));
  const std::string absent = std::string(GetParam().option) + "7";
  const Finished finished = Run({"train", "data", "--devices", absent});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, HasSubstr(fmt::format("there is no {} here, only cpu", absent)));
  EXPECT_THAT(finished.err, HasSubstr(GetParam().option));
}

}  // namespace
}  // namespace hogbatch
