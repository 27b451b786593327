// Checks every call into CUDA: a failure becomes an exception that names the device, the call and
// the reason.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace hogbatch::cuda {

class Calls {
 public:
  // `who` begins every message: "cuda.0 (NVIDIA A100)".
  explicit Calls(std::string who) : who_(std::move(who)) {}

  // calls.Must(cudaMalloc(…), "cudaMalloc") returns if the call succeeded. It throws
  // OutOfDeviceMemory if memory ran out and DeviceError for every other error.
  void Must(cudaError_t status, std::string_view call) const;
  void Must(cublasStatus_t status, std::string_view call) const;
  void Must(cudnnStatus_t status, std::string_view call) const;

  // Converts a size for libraries that count in int. DeviceError if it is too large.
  int AsInt(std::int64_t size, std::string_view call) const;

 private:
  [[noreturn]] void ThrowDeviceError(std::string_view call, std::string_view reason) const;
  [[noreturn]] void ThrowOutOfMemory(std::string_view call, std::string_view reason) const;

  std::string who_;
};

}  // namespace hogbatch::cuda
