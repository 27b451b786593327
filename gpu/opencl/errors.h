// From the codes of OpenCL and CLBlast to exceptions with a sentence.
#pragma once

#include <CL/cl.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace hogbatch::opencl {

// "CL_OUT_OF_RESOURCES (-5)". CLBlast passes OpenCL's codes on and has its own far below them.
std::string NameOfError(cl_int code);

// Whether a call that may take memory failed for want of it.
bool IsOutOfMemory(cl_int code);

// Speaks for one device.
class Complaints {
 public:
  // `device`: "opencl.0 (NAME)".
  explicit Complaints(std::string device) : device_(std::move(device)) {}

  // DeviceError unless the call went well; OutOfDeviceMemory if it wanted memory.
  void Check(cl_int code, std::string_view call) const;
  // The same for a call that asked for `bytes`.
  void CheckMemory(cl_int code, std::string_view call, std::size_t bytes) const;
  [[noreturn]] void Throw(std::string_view reason) const;
  [[noreturn]] void ThrowOutOfMemory(std::size_t bytes, std::string_view reason) const;

 private:
  std::string device_;
};

}  // namespace hogbatch::opencl
