#include <fmt/format.h>

#include <fstream>
#include <string>

#include "core/guard/machine_limits.h"
#include "cpu/cpu.h"
#include "cpu/product.h"

namespace hogbatch::cpu {
namespace {

std::string ProcessorName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "unknown processor";
}

// The widest vectors that this program uses.
std::string InstructionSet() {
  switch (VectorWidth()) {
    case 16:
      return "AVX-512";
    case 8:
      return "AVX2";
    default:
      return "SSE2";
  }
}

}  // namespace

DeviceInfo Describe() {
  DeviceInfo info;
  info.name = "cpu";
  info.description = fmt::format("{}, {}", ProcessorName(), InstructionSet());
  info.kind = DeviceKind::kCpu;
  info.shares_host_memory = true;
  info.memory_bytes = UsableMemory();
  return info;
}

}  // namespace hogbatch::cpu
