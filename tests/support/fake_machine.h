// A machine whose devices a test makes up.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "tests/support/detected_devices.h"
#include "training/devices/device_choice.h"

namespace hogbatch {

// A machine with what it offers, which counts how often each interface is asked.
struct FakeMachine {
  gpu::DetectedDevices cuda = NoCuda();
  gpu::DetectedDevices opencl = NoOpenCl();
  int asked_cuda = 0;
  int asked_opencl = 0;
  int cores = 2;

  std::vector<std::string> Choose(std::string_view devices, Purpose purpose = Purpose::kTraining) {
    const auto ask = [this](gpu::Interface interface) {
      ++(interface == gpu::Interface::kCuda ? asked_cuda : asked_opencl);
      return interface == gpu::Interface::kCuda ? cuda : opencl;
    };
    std::vector<std::string> names;
    for (const DeviceInfo& info : hogbatch::Choose(
             devices, {.processor = Processor(), .cores = cores, .ask = ask}, purpose)) {
      names.push_back(info.name);
    }
    return names;
  }

  std::string WhyNot(std::string_view devices) {
    try {
      Choose(devices);
    } catch (const UserError& error) {
      return error.what();
    }
    return "it was taken";
  }
};

// Two GPUs of NVIDIA's, the first of them through OpenCL, too, and PoCL.
inline FakeMachine TwoGpus() { return {.cuda = TwoCudas(), .opencl = SameGpuAndPocl()}; }

}  // namespace hogbatch
