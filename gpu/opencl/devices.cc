#include "gpu/opencl/devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "core/error.h"
#include "gpu/kernel_list.h"
#include "gpu/opencl/pci_address.h"
#include "gpu/opencl/queries.h"

namespace hogbatch::opencl {
namespace {

constexpr cl_int kNoPlatform = -1001;  // CL_PLATFORM_NOT_FOUND_KHR

// Why a device cannot be used; empty if it can.
std::string WhyUnusable(cl_device_id device) {
  if (!NumberOf<cl_bool>(device, CL_DEVICE_AVAILABLE)) return "it is not available";
  if (!NumberOf<cl_bool>(device, CL_DEVICE_COMPILER_AVAILABLE)) return "it has no compiler";
  const std::string version = TextOf(device, CL_DEVICE_VERSION);
  int major = 0, minor = 0;
  std::sscanf(version.c_str(), "OpenCL %d.%d", &major, &minor);
  if (major < 1 || (major == 1 && minor < 2)) {
    return fmt::format("it speaks '{}'; OpenCL 1.2 or newer is needed", version);
  }
  const auto group = NumberOf<std::size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  if (group < gpu::kItems) {
    return fmt::format("its work groups have at most {} items; {} are needed", group, gpu::kItems);
  }
  return {};
}

FoundDevice Describe(cl_platform_id platform, cl_device_id id, std::size_t number) {
  FoundDevice found{.id = id,
                    .hardware_name = TextOf(id, CL_DEVICE_NAME),
                    .platform_version = TextOf(platform, CL_PLATFORM_VERSION),
                    .driver_version = TextOf(id, CL_DRIVER_VERSION)};
  found.info = {
      .name = fmt::format("opencl.{}", number),
      .description = fmt::format("{}, {}, driver {}", found.hardware_name,
                                 TextOf(platform, CL_PLATFORM_NAME), found.driver_version),
      .kind = DeviceKind::kOpenCl,
      .depth = 2,
      .shares_host_memory = false,
      .memory_bytes = static_cast<std::int64_t>(NumberOf<cl_ulong>(id, CL_DEVICE_GLOBAL_MEM_SIZE)),
      .on_processor = (NumberOf<cl_device_type>(id, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0,
      .hardware = PciAddressOf(id),
      .unusable = WhyUnusable(id)};
  return found;
}

std::vector<cl_platform_id> Platforms() {
  cl_uint count = 0;
  const cl_int code = clGetPlatformIDs(0, nullptr, &count);
  if (code == kNoPlatform || (code == CL_SUCCESS && count == 0)) {
    throw DeviceError(
        "no OpenCL implementation is installed: install the one of the GPU's vendor (on Debian "
        "nvidia-opencl-icd, intel-opencl-icd or mesa-opencl-icd), or pocl-opencl-icd to run on the "
        "processor");
  }
  const ErrorReporter reporter("OpenCL");
  reporter.Check(code, "clGetPlatformIDs");
  std::vector<cl_platform_id> platforms(count);
  reporter.Check(clGetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs");
  return platforms;
}

std::vector<cl_device_id> DevicesOf(cl_platform_id platform) {
  const ErrorReporter reporter(TextOf(platform, CL_PLATFORM_NAME));
  cl_uint count = 0;
  const cl_int code = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count);
  if (code == CL_DEVICE_NOT_FOUND || (code == CL_SUCCESS && count == 0)) return {};
  reporter.Check(code, "clGetDeviceIDs");
  std::vector<cl_device_id> devices(count);
  reporter.Check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr),
                 "clGetDeviceIDs");
  return devices;
}

}  // namespace

std::vector<FoundDevice> FindDevices() {
  std::vector<FoundDevice> all;
  std::optional<DeviceError> failed;
  for (cl_platform_id platform : Platforms()) {
    // A broken platform must not hide the others.
    try {
      for (cl_device_id id : DevicesOf(platform)) all.push_back(Describe(platform, id, all.size()));
    } catch (const DeviceError& error) {
      failed = error;
    }
  }
  if (all.empty() && failed) throw *failed;
  return all;
}

FoundDevice FindUsable(const DeviceInfo& info) {
  const std::vector<FoundDevice> all = FindDevices();
  const auto found = std::ranges::find_if(
      all, [&](const FoundDevice& device) { return device.info.name == info.name; });
  if (found == all.end()) throw DeviceError(info.name + ": there is no such OpenCL device");
  if (!found->info.unusable.empty()) found->reporter().Throw(found->info.unusable);
  return *found;
}

}  // namespace hogbatch::opencl
