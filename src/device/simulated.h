// A device that is not there: it computes with another one and says what it would cost.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "device/device.h"

namespace hogbatch::sim {

struct SimulatedOptions {
  std::optional<CostModel> cost = CostModel{};  // none: that of a real device, which can only fail
  std::int64_t fail_call = 0;  // the n-th call, counted from 1, throws DeviceError; 0: never
};

// Forwards every call to `inner`. Every virtual call but info() and Free() counts; a simulated
// failure leaves `inner` untouched.
std::unique_ptr<Device> MakeSimulatedDevice(std::unique_ptr<Device> inner,
                                            SimulatedOptions options);

}  // namespace hogbatch::sim
