// A device as a plain value: what algorithms and users see of it.
#pragma once

#include <cstdint>
#include <string>

namespace hogbatch {

enum class DeviceKind : std::uint8_t { kCpu, kCuda, kOpenCl };

struct DeviceInfo {
  std::string name;         // "cpu.0", "cuda.1": also the worker's name in reports
  std::string description;  // "AMD EPYC, core 0"
  DeviceKind kind = DeviceKind::kCpu;
  int depth = 1;                   // tasks to keep in flight, so that transfers overlap computing
  bool shares_host_memory = true;  // it trains in the store itself; otherwise on a replica
  std::int64_t memory_bytes = 0;   // 0: limited only by the host's memory
  bool on_processor = false;       // a GPU interface over the host's own cores (PoCL)
  std::string hardware = {};       // PCI address, the same in every interface; empty: unknown
  std::string unusable = {};       // why a device that is present cannot train; empty: it can
};

}  // namespace hogbatch
