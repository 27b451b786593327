// From --devices to things that compute: the only place that names back ends.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "device/device.h"
#include "runtime/worker.h"

namespace hogbatch {

struct DeviceChoice {
  DeviceInfo info;
  DeviceFactory make;
};

// "auto" and "cpu": every core this process may use; "cpu:N": N workers. UserError for others.
std::vector<DeviceChoice> ChooseDevices(std::string_view devices);

std::vector<DeviceFactory> FactoriesOf(const std::vector<DeviceChoice>& choices);

}  // namespace hogbatch
