// Whole commands on GPU devices: where the plug-ins are found, and what they need.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "tests/support/paths.h"
#include "tests/support/process.h"

namespace hogbatch {

// Where a GPU's plug-in is, and what it needs to work.
struct Ground {
  const char* name;
  const char* option;
  const char* device;
  std::string plugins;
  std::string libraries;
  friend void PrintTo(const Ground& ground, std::ostream* out) { *out << ground.name; }
};

inline const Ground kOnOpenCl = {"OpenCl", "opencl:0", "opencl.0", InBuild(""), ""};
inline const Ground kOnStandin = {"CudaStandin", "cuda:0", "cuda.0",
                                  InBuild("tests/gpu/cuda_standin/plugins"),
                                  InBuild("tests/gpu/cuda_standin/plugins")};

class Gpu : public testing::Test {
 protected:
  // To be called first in SetUp.
  void Use(const Ground& ground) {
    ground_ = ground;
    // PoCL and its compilers lose memory of their own.
    folder_.Write("leaks", "leak:libpocl.so\nleak:libLLVM-\nleak:libclang-cpp.so\n");
    const std::string devices = Run({"devices", "--json"}).out;
    if (devices.find(fmt::format("\"{}\"", ground.device)) != std::string::npos) return;
    GTEST_SKIP() << "there is no " << ground.option << ": " << devices;
  }

  Finished Run(const std::vector<std::string>& arguments) const {
    const ScopedVariable leaks("LSAN_OPTIONS", "suppressions=" + folder_.path() + "/leaks");
    const ScopedVariable plugins("HOGBATCH_PLUGINS", ground_.plugins);
    const ScopedVariable libraries("LD_LIBRARY_PATH", ground_.libraries);
    return RunProgram(arguments, folder_.path());
  }

  // The summary of a training of a small network, the same to the bit on every run.
  std::string Train(const std::string& out, const std::string& devices,
                    const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {
        "train", "data",        "--hidden", "24",          "--epochs",  "2",     "--out",
        out,     "--json",      "--lr",     "0.1",         "--devices", devices, "--algorithm",
        "sync",  "--cpu-batch", "16",       "--gpu-batch", "16"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished finished = Run(arguments);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    EXPECT_EQ(finished.err, "");
    return finished.out;
  }

  Ground ground_ = {};
  TemporaryFolder folder_;
};

}  // namespace hogbatch
