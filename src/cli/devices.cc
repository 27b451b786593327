#include "cli/devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/spelling.h"
#include "cli/values.h"
#include "core/error.h"
#include "cpu/cpu.h"
#include "runtime/pinning.h"

namespace hogbatch {
namespace {

constexpr std::int64_t kMaxWorkers = 1024;

std::vector<DeviceChoice> CpuWorkers(std::int64_t count) {
  const DeviceInfo processor = cpu::Describe();
  std::vector<DeviceChoice> choices;
  for (std::int64_t i = 0; i < count; ++i) {
    DeviceInfo info = processor;
    info.name = fmt::format("cpu.{}", i);
    choices.push_back({info, [info] { return cpu::MakeDevice(info); }});
  }
  return choices;
}

}  // namespace

std::vector<DeviceChoice> ChooseDevices(std::string_view devices) {
  if (devices == "auto" || devices == "cpu") {
    return CpuWorkers(std::min<std::int64_t>(Cores().count(), kMaxWorkers));
  }
  if (devices.starts_with("cpu:")) {
    const std::int64_t count = ParseInteger("--devices cpu:N", devices.substr(4));
    if (count < 1 || count > kMaxWorkers) {
      throw UserError(
          fmt::format("--devices cpu:N needs N between 1 and {}, not {}", kMaxWorkers, count));
    }
    return CpuWorkers(count);
  }
  const std::array<std::string, 2> words = {"auto", "cpu"};
  throw UserError(fmt::format("--devices takes auto, cpu or cpu:N, not '{}'{}", devices,
                              DidYouMean(devices, words)));
}

std::vector<DeviceFactory> FactoriesOf(const std::vector<DeviceChoice>& choices) {
  std::vector<DeviceFactory> factories;
  for (const DeviceChoice& choice : choices) factories.push_back(choice.make);
  return factories;
}

}  // namespace hogbatch
