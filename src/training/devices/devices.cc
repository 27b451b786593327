#include "training/devices/devices.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "core/error.h"
#include "cpu/cpu.h"
#include "gpu/gpu.h"
#include "runtime/executors/pinning.h"

namespace hogbatch {
namespace {

std::unique_ptr<Device> MakeGpu(const DeviceInfo& info) {
  try {
    return gpu::MakeDevice(info);
  } catch (const DeviceError& error) {
    throw DeviceError(fmt::format("{}; --devices cpu does without it", error.what()));
  }
}

// PoCL starts a thread on every core, even on those that train. It reads the limit when it is first
// asked for devices. A limit set by the user is kept.
void LimitPocl(std::string_view devices, int cores) {
  const std::int64_t left = CoresLeftToOpenCl(devices, cores);
  if (left >= cores) return;
  const std::string text = std::to_string(left);
  ::setenv("POCL_MAX_PTHREAD_COUNT", text.c_str(), 0);
  ::setenv("POCL_CPU_MAX_CU_COUNT", text.c_str(), 0);  // its name since PoCL 4
}

}  // namespace

Machine ThisMachine() {
  return {.processor = cpu::Describe(), .cores = Cores().count(), .ask = gpu::Ask};
}

std::vector<DeviceChoice> ChooseDevices(std::string_view devices, const Machine& machine,
                                        Purpose purpose) {
  std::vector<DeviceChoice> choices;
  for (const DeviceInfo& info : Choose(devices, machine, purpose)) {
    if (info.kind == DeviceKind::kCpu) {
      choices.push_back({info, [info] { return cpu::MakeDevice(info); }});
    } else {
      choices.push_back({info, [info] { return MakeGpu(info); }});
    }
  }
  return choices;
}

Devices DevicesToTrain(std::string_view devices) {
  const Machine machine = ThisMachine();
  LimitPocl(devices, machine.cores);
  return {.chosen = ChooseDevices(devices, machine),
          .processor = machine.processor.description,
          .host_memory_bytes = machine.processor.memory_bytes,
          .cores = machine.cores};
}

std::vector<DeviceInfo> InfosOf(const std::vector<DeviceChoice>& choices) {
  std::vector<DeviceInfo> infos;
  for (const DeviceChoice& choice : choices) infos.push_back(choice.info);
  return infos;
}

std::vector<DeviceFactory> FactoriesOf(const std::vector<DeviceChoice>& choices) {
  std::vector<DeviceFactory> factories;
  for (const DeviceChoice& choice : choices) factories.push_back(choice.make);
  return factories;
}

}  // namespace hogbatch
