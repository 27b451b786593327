#include <dnnl.h>
#include <fmt/format.h>

#include <fstream>
#include <string>

#include "core/guard/machine_limits.h"
#include "cpu/cpu.h"

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

std::string InstructionSet() {
  switch (dnnl_get_effective_cpu_isa()) {
    case dnnl_cpu_isa_default:
      return "baseline";
    case dnnl_cpu_isa_sse41:
      return "SSE4.1";
    case dnnl_cpu_isa_avx:
      return "AVX";
    case dnnl_cpu_isa_avx2:
      return "AVX2";
    case dnnl_cpu_isa_avx2_vnni:
    case dnnl_cpu_isa_avx2_vnni_2:
      return "AVX2 with VNNI";
    case dnnl_cpu_isa_avx512_core:
    case dnnl_cpu_isa_avx512_core_vnni:
    case dnnl_cpu_isa_avx512_core_bf16:
    case dnnl_cpu_isa_avx512_core_fp16:
      return "AVX-512";
    case dnnl_cpu_isa_avx512_core_amx:
    case dnnl_cpu_isa_avx512_core_amx_fp16:
      return "AVX-512 with AMX";
    default:  // newer oneDNN knows newer ones
      return "newer than this program knows";
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
