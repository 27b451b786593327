// Makes the devices of --devices. The only place that names back ends.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "device/device.h"
#include "runtime/workers/worker.h"
#include "training/devices/device_choice.h"

namespace hogbatch {

Machine ThisMachine();

struct DeviceChoice {
  DeviceInfo info;
  DeviceFactory make;
};
// What a training runs on.
struct Devices {
  std::vector<DeviceChoice> chosen;
  std::string processor = {};          // "AMD EPYC, AVX-512"
  std::int64_t host_memory_bytes = 0;  // 0: not known
  int cores = 1;                       // that this process may use
};
Devices DevicesToTrain(std::string_view devices);

// The devices of Choose, and how to make them.
std::vector<DeviceChoice> ChooseDevices(std::string_view devices, const Machine& machine,
                                        Purpose purpose = Purpose::kTraining);

std::vector<DeviceInfo> InfosOf(const std::vector<DeviceChoice>& choices);
std::vector<DeviceFactory> FactoriesOf(const std::vector<DeviceChoice>& choices);

}  // namespace hogbatch
