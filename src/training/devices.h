// From --devices to things that compute: the only place that names back ends.
#pragma once

#include <string_view>
#include <vector>

#include "device/device.h"
#include "runtime/workers/worker.h"
#include "training/device_choice.h"

namespace hogbatch {

Machine ThisMachine();

struct DeviceChoice {
  DeviceInfo info;
  DeviceFactory make;
};
// What Choose says, and how to make it.
std::vector<DeviceChoice> ChooseDevices(std::string_view devices, const Machine& machine,
                                        Purpose purpose = Purpose::kTraining);

std::vector<DeviceInfo> InfosOf(const std::vector<DeviceChoice>& choices);
std::vector<DeviceFactory> FactoriesOf(const std::vector<DeviceChoice>& choices);

}  // namespace hogbatch
