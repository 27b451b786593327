// The program with a file of rows, for tests of sweeps and ensembles.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/process.h"

namespace hogbatch {

class SweepProgram : public testing::Test {
 protected:
  SweepProgram() { folder_.Write("rows.svm", TwoClasses(2000)); }

  Finished Run(const std::vector<std::string>& arguments) const {
    return Process(arguments, folder_.path()).Wait();
  }

  // Sends the signal as soon as the first block of the sweep in `out` has written this many
  // checkpoints.
  Finished StopAfterCheckpoint(const std::vector<std::string>& arguments, const std::string& out,
                               int checkpoint, int signal) const {
    Process process(arguments, folder_.path());
    const std::string file = out + "/trials/block-1/checkpoints/checkpoint-" +
                             std::to_string(checkpoint) + ".safetensors";
    while (process.running() && !folder_.Has(file)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    process.Signal(signal);
    return process.Wait();
  }

  TemporaryFolder folder_;
};

}  // namespace hogbatch
