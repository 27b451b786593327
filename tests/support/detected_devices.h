// Descriptions of machines, for tests of what is chosen on them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "gpu/gpu.h"

namespace hogbatch {

inline DeviceInfo Processor() {
  return {.name = "cpu", .description = "AMD EPYC, AVX2", .memory_bytes = 16'000'000'000};
}

inline DeviceInfo CudaGpu(std::string name, std::string hardware) {
  return {.name = std::move(name),
          .description = "NVIDIA A100",
          .kind = DeviceKind::kCuda,
          .shares_host_memory = false,
          .memory_bytes = 40'000'000'000,
          .hardware = std::move(hardware)};
}

inline DeviceInfo OpenClGpu(std::string name, std::string description, std::string hardware) {
  return {.name = std::move(name),
          .description = std::move(description),
          .kind = DeviceKind::kOpenCl,
          .shares_host_memory = false,
          .memory_bytes = 8'000'000'000,
          .hardware = std::move(hardware)};
}

inline DeviceInfo Pocl(std::string name) {
  DeviceInfo info = OpenClGpu(std::move(name), "pthread-AMD EPYC, PoCL", "");
  info.on_processor = true;
  return info;
}

inline gpu::DetectedDevices OpenCls(std::vector<DeviceInfo> devices) {
  return {.interface = gpu::Interface::kOpenCl, .devices = std::move(devices), .why_none = ""};
}

inline gpu::DetectedDevices TwoCudas() {
  return {.interface = gpu::Interface::kCuda,
          .devices = {CudaGpu("cuda.0", "0000:01:00.0"), CudaGpu("cuda.1", "0000:02:00.0")},
          .why_none = ""};
}
inline gpu::DetectedDevices SameGpuAndPocl() {
  return OpenCls(
      {OpenClGpu("opencl.0", "NVIDIA A100, NVIDIA CUDA", "0000:01:00.0"), Pocl("opencl.1")});
}
inline gpu::DetectedDevices NoCuda() {
  return {.interface = gpu::Interface::kCuda, .devices = {}, .why_none = "no driver; install it"};
}
inline gpu::DetectedDevices NoOpenCl() {
  return {.interface = gpu::Interface::kOpenCl, .devices = {}, .why_none = "no OpenCL; install it"};
}

}  // namespace hogbatch
