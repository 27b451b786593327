// Turns error codes of OpenCL and CLBlast into exceptions with a sentence.
#pragma once

#include <CL/cl.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace hogbatch::opencl {

// "CL_OUT_OF_RESOURCES (-5)". CLBlast returns OpenCL's codes, and has its own far below them.
std::string NameOfError(cl_int code);

// Whether a call failed because memory ran out.
bool IsOutOfMemory(cl_int code);

// Reports the errors of one device.
class ErrorReporter {
 public:
  // `device`: "opencl.0 (NAME)".
  explicit ErrorReporter(std::string device) : device_(std::move(device)) {}

  // Throws unless the call succeeded: OutOfDeviceMemory if memory ran out, else DeviceError.
  void Check(cl_int code, std::string_view call) const;
  // The same for a call that asked for `bytes`.
  void CheckMemory(cl_int code, std::string_view call, std::size_t bytes) const;
  [[noreturn]] void Throw(std::string_view reason) const;
  [[noreturn]] void ThrowOutOfMemory(std::size_t bytes, std::string_view reason) const;

 private:
  std::string device_;
};

}  // namespace hogbatch::opencl
