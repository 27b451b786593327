#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "core/error.h"
#include "gpu/cuda/calls.h"
#include "gpu/cuda/cuda_driver.h"

namespace hogbatch::cuda {
namespace {

// CUDA counts versions as 1000 · major + 10 · minor.
std::string Version(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

struct Versions {
  int driver = 0;  // the newest CUDA that the driver supports; 0 if there is no driver
  int runtime = 0;
};

Versions AskVersions(const Calls& calls) {
  Versions versions;
  calls.Must(cudaDriverGetVersion(&versions.driver), "cudaDriverGetVersion");
  calls.Must(cudaRuntimeGetVersion(&versions.runtime), "cudaRuntimeGetVersion");
  return versions;
}

int CountDevices(const Calls& calls, const Versions& versions) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorInsufficientDriver || versions.driver == 0) {
    cudaGetLastError();
    if (versions.driver == 0) {
      throw DeviceError("CUDA: no NVIDIA driver was found; install it to use an NVIDIA GPU");
    }
    throw DeviceError(fmt::format(
        "CUDA: the NVIDIA driver supports CUDA {} and hogbatch was built for {}; update the driver",
        Version(versions.driver), Version(versions.runtime)));
  }
  if (status == cudaErrorNoDevice) {
    cudaGetLastError();
    return 0;
  }
  calls.Must(status, "cudaGetDeviceCount");
  return count;
}

// "0000:3b:00.0", as Linux and OpenCL write it. CUDA may write the domain with more digits.
std::string PciAddress(const Calls& calls, int ordinal) {
  std::array<char, 32> text = {};
  calls.Must(cudaDeviceGetPCIBusId(text.data(), text.size(), ordinal), "cudaDeviceGetPCIBusId");
  std::string address = text.data();
  std::ranges::transform(address, address.begin(), [](unsigned char c) { return std::tolower(c); });
  while (address.find(':') > 4 && address.starts_with('0')) address.erase(0, 1);
  return address;
}

// Kernels run on the architectures that the toolkit knew and on newer ones, but not on older ones.
// The stand-in compiles kernels for no architecture.
#ifndef HOGBATCH_CUDA_OLDEST
#define HOGBATCH_CUDA_OLDEST 0
#endif
std::string WhyUnusable(const cudaDeviceProp& properties) {
  constexpr int kOldest = HOGBATCH_CUDA_OLDEST;  // 10 · major + minor
  if (10 * properties.major + properties.minor >= kOldest) return {};
  return fmt::format("it is older than compute capability {}.{}, for which hogbatch was built",
                     kOldest / 10, kOldest % 10);
}

DeviceInfo Describe(const Calls& calls, int ordinal, const Versions& versions) {
  cudaDeviceProp properties = {};
  calls.Must(cudaGetDeviceProperties(&properties, ordinal), "cudaGetDeviceProperties");
  return {.name = fmt::format("cuda.{}", ordinal),
          .description =
              fmt::format("{}, compute capability {}.{}, {:.1f} GiB, CUDA {} on a driver for {}",
                          properties.name, properties.major, properties.minor,
                          static_cast<double>(properties.totalGlobalMem) / (1 << 30),
                          Version(versions.runtime), Version(versions.driver)),
          .kind = DeviceKind::kCuda,
          .depth = 2,
          .shares_host_memory = false,
          .memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem),
          .hardware = PciAddress(calls, ordinal),
          .unusable = WhyUnusable(properties)};
}

}  // namespace

std::vector<DeviceInfo> ListDevices() {
  const Calls calls("CUDA");
  const Versions versions = AskVersions(calls);
  const int count = CountDevices(calls, versions);
  std::vector<DeviceInfo> devices;
  for (int i = 0; i < count; ++i) devices.push_back(Describe(calls, i, versions));
  return devices;
}

}  // namespace hogbatch::cuda
