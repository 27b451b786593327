// The OpenCL devices of this machine.
#pragma once

#include <CL/cl.h>

#include <string>
#include <vector>

#include "device/device.h"
#include "gpu/opencl/errors.h"

namespace hogbatch::opencl {

// A device of any platform. The identifiers stay valid until the process ends.
struct FoundDevice {
  cl_device_id id = nullptr;
  std::string hardware_name;     // "Tesla T4"
  std::string platform_version;  // "OpenCL 3.0 CUDA 12.2.148"
  std::string driver_version;
  DeviceInfo info;

  ErrorReporter reporter() const { return ErrorReporter(info.name + " (" + hardware_name + ")"); }
};

// All devices of all platforms, in the order of the OpenCL loader. DeviceError if no OpenCL
// implementation is installed, or none works.
std::vector<FoundDevice> FindDevices();

// The device of this name. DeviceError if there is none or it cannot run the kernels.
FoundDevice FindUsable(const DeviceInfo& info);

}  // namespace hogbatch::opencl
