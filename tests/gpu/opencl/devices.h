// What the tests of the OpenCL back end share.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "gpu/driver.h"
#include "gpu/opencl/devices.h"

namespace hogbatch::opencl {

// None where no OpenCL implementation is installed.
inline std::vector<FoundDevice> DevicesHere() {
  try {
    return FindDevices();
  } catch (const DeviceError&) {
    return {};
  }
}

// Runs on the first OpenCL device, and is skipped where there is none.
class OnOpenCl : public testing::Test {
 protected:
  void SetUp() override {
    const std::vector<FoundDevice> devices = DevicesHere();
    if (devices.empty()) GTEST_SKIP() << "there is no OpenCL device here";
    device_ = devices.front();
  }
  const FoundDevice& device() const { return device_; }

 private:
  FoundDevice device_;
};

// The sentence of the E that `act` throws; a failure if it throws none.
template <typename E, typename Act>
std::string SentenceOf(Act act) {
  try {
    act();
  } catch (const E& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

}  // namespace hogbatch::opencl
