#include "cli/commands.h"
#include "cli/console.h"
#include "cli/reports/devices_report.h"
#include "core/guard/cache_folder.h"
#include "training/devices/devices.h"

namespace hogbatch {

int ListDevices(const DevicesOptions& options) {
  const Machine machine = ThisMachine();
  const std::optional<std::filesystem::path> cache = DefaultCacheFolder();
  const DevicesReport report{.processor = machine.processor,
                             .cores = machine.cores,
                             .cuda = machine.ask(gpu::Interface::kCuda),
                             .opencl = machine.ask(gpu::Interface::kOpenCl),
                             .why_no_cache = cache ? WhyNoCache(*cache) : "",
                             .machine = LookAtMachine()};
  WriteOutput(options.json ? DevicesJson(report) : DevicesText(report));
  return kExitOk;
}

}  // namespace hogbatch
