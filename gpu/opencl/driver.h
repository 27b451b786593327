// gpu/driver.h over OpenCL 1.2: an address of device memory is a cl_mem, an event a cl_event.
#pragma once

#include <memory>
#include <string_view>

#include "gpu/driver.h"
#include "gpu/opencl/program.h"

namespace hogbatch::opencl {

struct DriverOptions {
  std::string_view source = KernelSource();
  ProgramCache cache{DefaultCacheFolder()};
  bool as_gpu = false;  // what GPUs get also on a processor, to test and time it there
};

// A driver of a device that FindDevices() lists. DeviceError if it cannot be used.
std::unique_ptr<gpu::Driver> MakeDriver(const DeviceInfo& info, const DriverOptions& options = {});

}  // namespace hogbatch::opencl
