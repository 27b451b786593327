// NVIDIA's GPUs: a gpu::Driver over the CUDA runtime, cuBLAS, cublasLt and cuDNN.
//
// NOTHING IN THIS FOLDER HAS EVER RUN ON A GPU. It was written on machines without one. What was
// shown there: it compiles and links with CUDA 13, every symbol resolves against the real libraries
// (tests/gpu/cuda), and the same object files run the conformance suite on a host stand-in for the
// calls below (tests/gpu/cuda_standin). On a machine with a GPU, `ctest -L cuda` runs the suite on
// it. What only that can show: that the real libraries behave as their documentation says, how fast
// any of this is, and whether copies and products overlap.
//
// Only these entry points are used; the stand-in has no others:
//   cudaGetDeviceCount GetDeviceProperties SetDevice DriverGetVersion RuntimeGetVersion MemGetInfo
//   DeviceGetPCIBusId Malloc Free MallocHost FreeHost MemcpyAsync StreamCreateWithFlags
//   StreamDestroy StreamSynchronize StreamWaitEvent EventCreateWithFlags EventRecord EventQuery
//   EventDestroy LaunchKernel GetErrorName GetErrorString GetLastError
//   cublasCreate Destroy SetStream SetWorkspace SetMathMode Sgemm GetStatusString
//   cublasLtCreate Destroy MatmulDescCreate/SetAttribute/Destroy MatrixLayoutCreate/Destroy
//   MatmulPreferenceCreate/SetAttribute/Destroy MatmulAlgoGetHeuristic Matmul
//   cudnnCreate Destroy SetStream CreateTensorDescriptor SetTensor4dDescriptorEx
//   DestroyTensorDescriptor SoftmaxForward GetErrorString
#pragma once

#include <memory>
#include <vector>

#include "gpu/driver.h"

namespace hogbatch::cuda {

// The GPUs that CUDA shows this process; none is opened. DeviceError, with the reason and what to
// do, if there is no driver or it is too old.
std::vector<DeviceInfo> ListDevices();

// A driver for a device that ListDevices named. It belongs to the thread that makes it; a thread
// may own several drivers.
std::unique_ptr<gpu::Driver> MakeDriver(const DeviceInfo& info);

}  // namespace hogbatch::cuda
