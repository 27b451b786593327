#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/devices.h"
#include "runtime/pinning.h"

namespace hogbatch {

int Devices(const DevicesOptions& options) {
  const std::vector<DeviceChoice> chosen = ChooseDevices("auto");
  const DeviceInfo& processor = chosen.front().info;
  if (options.json) {
    nlohmann::ordered_json json;
    json["devices"] = {{{"name", "cpu"},
                        {"description", processor.description},
                        {"cores", Cores().count()},
                        {"memory_bytes", processor.memory_bytes}}};
    for (const DeviceChoice& choice : chosen) json["auto"].push_back(choice.info.name);
    WriteOutput(json.dump(2) + "\n");
    return kExitOk;
  }
  WriteOutput(
      fmt::format("cpu   {}\n      {} core{} for this process, {:.3g} GB of memory\n\n"
                  "--devices auto takes {}{}\n",
                  processor.description, Cores().count(), Cores().count() == 1 ? "" : "s",
                  static_cast<double>(processor.memory_bytes) / 1e9, chosen.front().info.name,
                  chosen.size() == 1 ? "" : fmt::format(" to {}", chosen.back().info.name)));
  return kExitOk;
}

}  // namespace hogbatch
