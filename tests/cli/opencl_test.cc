// Whole commands on an OpenCL device, as users give them: on PoCL where there is no GPU.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "tests/cli/process.h"

namespace hogbatch {
namespace {

using testing::HasSubstr;

class OnOpenCl : public testing::Test {
 protected:
  void SetUp() override {
    // PoCL and its compilers lose memory of their own.
    folder_.Write("leaks", "leak:libpocl.so\nleak:libLLVM-\nleak:libclang-cpp.so\n");
    const std::string devices = Run({"devices", "--json"}).out;
    if (HasKey(devices, "devices") && devices.find("\"opencl.0\"") != std::string::npos) return;
    GTEST_SKIP() << "no OpenCL device: " << devices;
  }

  Finished Run(const std::vector<std::string>& arguments) const {
    const ScopedVariable leaks("LSAN_OPTIONS", "suppressions=" + folder_.path() + "/leaks");
    const ScopedVariable plugins("HOGBATCH_PLUGINS", HOGBATCH_PLUGINS_BUILT);
    return RunProgram(arguments, folder_.path());
  }

  // The summary of a training of a small network, the same to the bit on every run.
  std::string Train(const std::string& out, const std::string& devices,
                    std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {
        "train", "data",        "--hidden", "24",          "--epochs", "2",           "--out",
        out,     "--json",      "--lr",     "0.1",         "--seed",   "3",           "--devices",
        devices, "--algorithm", "sync",     "--cpu-batch", "16",       "--gpu-batch", "16"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished finished = Run(arguments);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return finished.out;
  }

  TemporaryFolder folder_;
};

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

std::string DenseRows(int classes) {
  std::string text;
  for (int row = 0; row < 600; ++row) {
    const double x = std::sin(row), y = std::cos(3 * row), z = std::sin(7 * row);
    const double value = x * y + 0.3 * z;
    text += fmt::format("{:.5f},{:.5f},{:.5f},", x, y, z);
    text += classes > 0
                ? fmt::format("{}\n", std::min(static_cast<int>((value + 1.3) / 2.6 * classes),
                                               classes - 1))
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

class TrainsOnOpenCl : public OnOpenCl, public testing::WithParamInterface<Problem> {};

TEST_P(TrainsOnOpenCl, ToTheLossesOfTheProcessor) {
  folder_.Write("data", GetParam().data);
  const std::string opencl = Train("o", "opencl:0", GetParam().options);
  const std::string cpu = Train("c", "cpu:1", GetParam().options);
  EXPECT_EQ(ValueOf(opencl, "updates"), ValueOf(cpu, "updates"));
  for (const char* loss : {"train_loss", "valid_loss"}) {
    const double expected = std::stod(ValueOf(cpu, loss));
    EXPECT_NEAR(std::stod(ValueOf(opencl, loss)), expected, 1e-5 * expected) << loss;
  }
  EXPECT_TRUE(HasKey(opencl, "opencl.0"));
}

INSTANTIATE_TEST_SUITE_P(
    Problems, TrainsOnOpenCl,
    testing::Values(
        Problem{"DenseClasses", DenseRows(3), {"--optimizer", "adam", "--lr", "0.01"}},
        Problem{"DenseValues", DenseRows(0), {"--momentum", "0.5", "--activation", "gelu"}},
        Problem{"SparseClasses", SparseRows([](int) { return false; }), {"--momentum", "0.5"}},
        Problem{"SparseLabels",
                SparseRows([](int row) { return row % 3 > 0; }),
                {"--activation", "tanh", "--class-weights", "balanced"}}),
    [](const auto& one) { return one.param.name; });

TEST_F(OnOpenCl, TrainsWithoutWaitingAndSaysOnWhat) {
  folder_.Write("data", TwoClasses(400));
  const Finished finished = Run({"train", "data", "--hidden", "8", "--epochs", "20", "--gpu-batch",
                                 "32", "--devices", "opencl:0", "--out", "o"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(finished.err, "");
  EXPECT_THAT(finished.out, HasSubstr("hogbatch on opencl.0 ("));
  EXPECT_THAT(finished.out, HasSubstr("), 32 rows per update, sgd"));
  EXPECT_EQ(ValueOf(folder_.Read("o/summary.json"), "valid_accuracy"), "1.0");
}

TEST_F(OnOpenCl, EvalAndPredictAgreeWithTheProcessor) {
  folder_.Write("data", DenseRows(3));
  Train("o", "cpu:1");
  const auto on = [&](std::string command, std::string option, std::string devices) {
    const Finished finished =
        Run({command, "o/model.safetensors", "data", option, "--devices", devices});
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return finished.out;
  };
  const std::string cpu = on("eval", "--json", "cpu:1");
  const std::string opencl = on("eval", "--json", "opencl:0");
  EXPECT_NEAR(std::stod(ValueOf(opencl, "loss")), std::stod(ValueOf(cpu, "loss")), 1e-6);
  EXPECT_EQ(ValueOf(opencl, "accuracy"), ValueOf(cpu, "accuracy"));
  EXPECT_EQ(on("predict", "--top=0", "opencl:0"), on("predict", "--top=0", "cpu:1"));
}

TEST_F(OnOpenCl, CoresAndADeviceMayTrainOneModel) {
  folder_.Write("data", TwoClasses(2000));
  const Finished finished = Run({"train", "data", "--hidden", "8", "--epochs", "10", "--devices",
                                 "cpu:1,opencl:0", "--gpu-batch", "64", "--out", "o"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("16 rows per update; opencl.0 ("));
  const std::string summary = folder_.Read("o/summary.json");
  EXPECT_TRUE(HasKey(summary, "cpu.0") && HasKey(summary, "opencl.0")) << summary;
  EXPECT_EQ(ValueOf(summary, "examples"), "18000");
}

TEST_F(OnOpenCl, AnAbsentDeviceIsRefusedWithThoseThatArePresent) {
  folder_.Write("data", TwoClasses(40));
  const Finished finished = Run({"train", "data", "--devices", "opencl:77"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, HasSubstr("there is no opencl:77 here, only cpu"));
  EXPECT_THAT(finished.err, HasSubstr("opencl:0"));
}

}  // namespace
}  // namespace hogbatch
