#include "gpu/cuda/calls.h"

#include <fmt/format.h>

#include <limits>

#include "core/error.h"

namespace hogbatch::cuda {
namespace {

// What the user can do about an error; empty if nothing.
std::string_view Advice(cudaError_t status) {
  switch (status) {
    case cudaErrorInsufficientDriver:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorSystemDriverMismatch:
      return "; update the NVIDIA driver";
    case cudaErrorNoKernelImageForDevice:
      return "; this GPU is older than what the CUDA toolkit that built hogbatch supports: build "
             "it with an older toolkit, or use the GPU through OpenCL";
    case cudaErrorDevicesUnavailable:
      return "; another process may have the GPU to itself (nvidia-smi shows its compute mode)";
    default:
      return "";
  }
}

}  // namespace

void Calls::ThrowDeviceError(std::string_view call, std::string_view reason) const {
  throw DeviceError(fmt::format("{}: {} failed: {}", who_, call, reason));
}

void Calls::ThrowOutOfMemory(std::string_view call, std::string_view reason) const {
  std::size_t free = 0, total = 0;
  std::string room;
  if (cudaMemGetInfo(&free, &total) == cudaSuccess) {
    room = fmt::format("; {} of {} MiB are free on the device", free >> 20, total >> 20);
  }
  throw OutOfDeviceMemory(fmt::format("{}: {} failed: {}{}", who_, call, reason, room));
}

void Calls::Must(cudaError_t status, std::string_view call) const {
  if (status == cudaSuccess) return;
  // Clears the error. Otherwise the next library that asks for its own error would get this one.
  cudaGetLastError();
  const std::string reason = fmt::format("{} ({}){}", cudaGetErrorName(status),
                                         cudaGetErrorString(status), Advice(status));
  if (status == cudaErrorMemoryAllocation) ThrowOutOfMemory(call, reason);
  ThrowDeviceError(call, reason);
}

void Calls::Must(cublasStatus_t status, std::string_view call) const {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  const std::string reason =
      fmt::format("status {} ({})", static_cast<int>(status), cublasGetStatusString(status));
  if (status == CUBLAS_STATUS_ALLOC_FAILED) ThrowOutOfMemory(call, reason);
  ThrowDeviceError(call, reason);
}

void Calls::Must(cudnnStatus_t status, std::string_view call) const {
  if (status == CUDNN_STATUS_SUCCESS) return;
  const std::string reason = cudnnGetErrorString(status);
  if (status == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED ||
      status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED) {
    ThrowOutOfMemory(call, reason);
  }
  ThrowDeviceError(call, reason);
}

int Calls::AsInt(std::int64_t size, std::string_view call) const {
  if (size >= 0 && size <= std::numeric_limits<int>::max()) return static_cast<int>(size);
  ThrowDeviceError(call,
                   fmt::format("it takes sizes up to {}, not {}; use a smaller batch or layer",
                               std::numeric_limits<int>::max(), size));
}

}  // namespace hogbatch::cuda
