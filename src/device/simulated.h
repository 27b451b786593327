// A device that computes with another one and fails when it is told to.
#pragma once

#include <cstdint>
#include <memory>

#include "device/device.h"

namespace hogbatch::sim {

struct SimulatedOptions {
  std::int64_t fail_call = 0;  // the n-th call, counted from 1, throws DeviceError; 0: never
};

// Forwards every call to `inner`. All virtual calls count except info(), Free() and FreeHost(). A
// call that fails does not reach `inner`.
std::unique_ptr<Device> MakeSimulatedDevice(std::unique_ptr<Device> inner,
                                            SimulatedOptions options);

}  // namespace hogbatch::sim
