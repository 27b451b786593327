// A device that computes with another one and fails when it is told to.
#pragma once

#include <cstdint>
#include <memory>

#include "device/device.h"

namespace hogbatch::sim {

enum class Fault : std::uint8_t { kDevice, kHostMemory };  // DeviceError, std::bad_alloc

struct SimulatedOptions {
  std::int64_t fail_call = 0;  // the n-th call, counted from 1, throws; 0: never
  Fault fault = Fault::kDevice;
};

// Forwards every call to `inner`. All virtual calls count except info(), Free() and FreeHost(). A
// call that fails does not reach `inner`.
std::unique_ptr<Device> MakeSimulatedDevice(std::unique_ptr<Device> inner,
                                            SimulatedOptions options);

}  // namespace hogbatch::sim
