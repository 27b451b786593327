#include "compare/runs/machine.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/guard/json_text.h"

namespace hogbatch::compare {
namespace {

constexpr double kMostSeconds = 120;

std::string System() {
  utsname names{};
  if (::uname(&names) != 0) return "unknown";
  return fmt::format("{} {}", names.sysname, names.release);
}

}  // namespace

MachineFacts MachineFrom(std::string_view devices_json) {
  MachineFacts facts{.processor = "unknown", .system = System()};
  const auto json = ParseJson<nlohmann::json>(devices_json);
  if (!json.is_object() || !json.contains("devices")) return facts;
  for (const auto& device : json["devices"]) {
    if (device.value("interface", "") == "cpu") {
      facts.processor = device.value("description", "unknown");
      facts.cores = device.value("cores", std::int64_t{1});
      facts.memory_bytes = device.value("memory_bytes", std::int64_t{0});
    } else if (device.value("auto", false)) {
      facts.gpus = Gpus::kSome;
      facts.gpu_names += (facts.gpu_names.empty() ? "" : "; ") + device.value("description", "");
    }
  }
  return facts;
}

std::optional<MachineFacts> AskMachine(const Programs& programs, const std::string& scratch,
                                       const Interrupted& interrupted) {
  const ChildCommand command{.words = {programs.self, "devices", "--json"},
                             .out = scratch + "/devices.json",
                             .err = scratch + "/devices.err",
                             .limit_seconds = kMostSeconds};
  const auto result = RunChild(command, interrupted);
  if (!result) return std::nullopt;
  if (result->exit_code != 0) {
    throw Error(fmt::format("hogbatch devices failed: {}", LastLines(command.err, 3)));
  }
  std::ifstream file(command.out, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return MachineFrom(text);
}

}  // namespace hogbatch::compare
