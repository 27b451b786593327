// Owners of CUDA objects: each is destroyed by the matching call.
#pragma once

#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>

#include <memory>
#include <string_view>
#include <type_traits>

#include "device/tensor.h"
#include "gpu/cuda/calls.h"

namespace hogbatch::cuda {

template <auto destroy>
struct DestroyBy {
  template <typename T>
  void operator()(T* handle) const noexcept {
    destroy(handle);  // a failure cannot be reported here; the next call reports it
  }
};

// All handles are pointers to opaque types.
template <typename Handle, auto destroy>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, DestroyBy<destroy>>;

using DeviceMemory = Owned<void*, cudaFree>;
using StreamHandle = Owned<cudaStream_t, cudaStreamDestroy>;
using EventHandle = Owned<cudaEvent_t, cudaEventDestroy>;
using BlasHandle = Owned<cublasHandle_t, cublasDestroy>;
using LtHandle = Owned<cublasLtHandle_t, cublasLtDestroy>;
using LtOperation = Owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using LtLayout = Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using LtPreference = Owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;
using DnnHandle = Owned<cudnnHandle_t, cudnnDestroy>;
using DnnTensor = Owned<cudnnTensorDescriptor_t, cudnnDestroyTensorDescriptor>;

// Make<StreamHandle>(calls, "cudaStreamCreate", cudaStreamCreateWithFlags, flags…) makes one.
template <typename Owner, typename Create, typename... Arguments>
Owner Make(const Calls& calls, std::string_view name, Create create, Arguments... arguments) {
  typename Owner::pointer handle = nullptr;
  calls.Must(create(&handle, arguments...), name);
  return Owner(handle);
}

// The address of a tensor in device memory. The host must not use it.
inline float* AddressOf(const Tensor& t) {
  return static_cast<float*>(t.data.base) + t.data.offset;
}

}  // namespace hogbatch::cuda
