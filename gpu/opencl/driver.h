// A gpu::Driver over OpenCL 1.2. Addresses of device memory are cl_mem, events are cl_event.
#pragma once

#include <memory>
#include <string_view>

#include "gpu/driver.h"
#include "gpu/opencl/program.h"

namespace hogbatch::opencl {

struct DriverOptions {
  std::string_view source = KernelSource();
  ProgramCache cache{DefaultCacheFolder()};
  bool as_gpu = false;  // use the kernels of GPUs on a processor, too, to test and time them
};

// A driver for a device that FindDevices() lists. DeviceError if it cannot be used.
std::unique_ptr<gpu::Driver> MakeDriver(const DeviceInfo& info, const DriverOptions& options = {});

}  // namespace hogbatch::opencl
