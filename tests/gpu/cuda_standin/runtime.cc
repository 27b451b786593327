// The CUDA runtime's entry points but for copies and kernels.
#include "tests/gpu/cuda_standin/runtime.h"

#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstring>

namespace hogbatch::standin {
namespace {

cudaError_t& LastError() {
  thread_local cudaError_t last = cudaSuccess;
  return last;
}

cudaError_t ToCuda(std::optional<Fault> fault) {
  if (!fault) return cudaSuccess;
  switch (*fault) {
    case Fault::kValue:
      return cudaErrorInvalidValue;
    case Fault::kHandle:
      return cudaErrorInvalidResourceHandle;
    case Fault::kAddress:
      return cudaErrorIllegalAddress;
    case Fault::kConfiguration:
      return cudaErrorInvalidConfiguration;
    case Fault::kFunction:
      return cudaErrorInvalidDeviceFunction;
    case Fault::kUnsupported:
      return cudaErrorNotSupported;
    case Fault::kNoMemory:
      return cudaErrorMemoryAllocation;
    case Fault::kNotReady:
      return cudaErrorNotReady;
    case Fault::kNoDevice:
      return cudaErrorNoDevice;
    case Fault::kOldDriver:
      return cudaErrorInsufficientDriver;
    case Fault::kBadDevice:
      return cudaErrorInvalidDevice;
    case Fault::kDead:
      return cudaErrorLaunchFailure;
  }
  return cudaErrorUnknown;
}

void RequireDevice(const Machine& machine, int device) {
  if (device < 0 || device >= machine.settings.devices) throw Failure{Fault::kBadDevice};
}

}  // namespace

cudaError_t RunCuda(const char* call, Purpose purpose, const std::function<void(Machine&)>& body) {
  const cudaError_t error = ToCuda(Run(call, purpose, body));
  if (error != cudaSuccess) LastError() = error;
  return error;
}

}  // namespace hogbatch::standin

using namespace hogbatch::standin;

cudaError_t cudaDriverGetVersion(int* version) {
  return RunCuda("cudaDriverGetVersion", Purpose::kLook, [&](Machine& machine) {
    const int set = machine.settings.driver_version;
    Give(version, set == 0 ? CUDART_VERSION : set);
  });
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  return RunCuda("cudaRuntimeGetVersion", Purpose::kLook,
                 [&](Machine&) { Give(version, CUDART_VERSION); });
}

cudaError_t cudaGetDeviceCount(int* count) {
  return RunCuda("cudaGetDeviceCount", Purpose::kAsk,
                 [&](Machine& machine) { Give(count, machine.settings.devices); });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return RunCuda("cudaGetDeviceProperties", Purpose::kAsk, [&](Machine& machine) {
    RequireDevice(machine, device);
    Give(properties, {});
    std::snprintf(properties->name, sizeof(properties->name), "stand-in GPU %d", device);
    properties->totalGlobalMem = machine.memory.capacity();
    properties->major = 9;
    properties->multiProcessorCount = 16;
    properties->warpSize = 32;
    properties->maxThreadsPerBlock = 1024;
    properties->asyncEngineCount = 2;
    properties->pciBusID = device + 1;
  });
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  return RunCuda("cudaDeviceGetPCIBusId", Purpose::kAsk, [&](Machine& machine) {
    Give(text, '\0');
    RequireDevice(machine, device);
    if (length < 13) throw Misuse{Fault::kValue, "a PCI address takes 13 characters"};
    std::snprintf(text, length, "0000:%02X:00.0", device + 1);
  });
}

cudaError_t cudaSetDevice(int device) {
  return RunCuda("cudaSetDevice", Purpose::kAsk, [&](Machine& machine) {
    RequireDevice(machine, device);
    machine.RequireAlive(device);
    CurrentDevice() = device;
  });
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return RunCuda("cudaMemGetInfo", Purpose::kUse, [&](Machine& machine) {
    Give(total, machine.memory.capacity());
    Give(free, *total - machine.memory.used(CurrentDevice()));
  });
}

cudaError_t cudaMalloc(void** address, std::size_t bytes) {
  return RunCuda("cudaMalloc", Purpose::kUse, [&](Machine& machine) {
    machine.RequireRoom();
    Give(address, bytes == 0 ? nullptr : machine.memory.Allocate(CurrentDevice(), bytes));
  });
}

cudaError_t cudaFree(void* address) {
  return RunCuda("cudaFree", Purpose::kGiveBack, [&](Machine& machine) {
    if (address == nullptr) return;
    Block& block = machine.memory.Find(address, "what is freed");
    machine.timeline.SynchronizeDevice(block.device);
    machine.memory.Free(block);
  });
}

cudaError_t cudaMallocHost(void** address, std::size_t bytes) {
  return RunCuda("cudaMallocHost", Purpose::kUse, [&](Machine& machine) {
    machine.RequireRoom();
    Give(address, bytes == 0 ? nullptr : machine.memory.AllocatePinned(bytes));
  });
}

cudaError_t cudaFreeHost(void* address) {
  return RunCuda("cudaFreeHost", Purpose::kGiveBack, [&](Machine& machine) {
    if (address == nullptr) return;
    Block& block = machine.memory.FindPinned(address);
    if (machine.timeline.Uses(block)) {
      for (int d = 0; d < machine.settings.devices; ++d) machine.timeline.SynchronizeDevice(d);
      machine.Violate("cudaFreeHost: " + block.Name() +
                      " are freed while a copy that nobody waited for uses them");
    }
    machine.memory.Free(block);
  });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  return RunCuda("cudaStreamCreateWithFlags", Purpose::kUse, [&](Machine& machine) {
    if (flags != cudaStreamNonBlocking) {
      throw Misuse{Fault::kValue, "a stream that is not cudaStreamNonBlocking may wait for others"};
    }
    Give(stream, static_cast<cudaStream_t>(machine.timeline.MakeStream(CurrentDevice())));
  });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return RunCuda("cudaStreamDestroy", Purpose::kGiveBack,
                 [&](Machine& machine) { machine.timeline.DestroyStream(stream); });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return RunCuda("cudaStreamSynchronize", Purpose::kUse,
                 [&](Machine& machine) { machine.timeline.Synchronize(stream); });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  return RunCuda("cudaStreamWaitEvent", Purpose::kUse, [&](Machine& machine) {
    if (flags != cudaEventWaitDefault) throw Misuse{Fault::kValue, "there is no such flag"};
    machine.timeline.Await(stream, event);
  });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  return RunCuda("cudaEventCreateWithFlags", Purpose::kUse, [&](Machine& machine) {
    if ((flags & ~(cudaEventBlockingSync | cudaEventDisableTiming)) != 0) {
      throw Misuse{Fault::kValue, "there is no such flag"};
    }
    Give(event, static_cast<cudaEvent_t>(machine.timeline.MakeEvent(CurrentDevice())));
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return RunCuda("cudaEventRecord", Purpose::kUse,
                 [&](Machine& machine) { machine.timeline.Record(event, stream); });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return RunCuda("cudaEventQuery", Purpose::kUse, [&](Machine& machine) {
    if (!machine.timeline.HasCompleted(event)) throw Failure{Fault::kNotReady};
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return RunCuda("cudaEventSynchronize", Purpose::kUse,
                 [&](Machine& machine) { machine.timeline.SynchronizeEvent(event); });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return RunCuda("cudaEventDestroy", Purpose::kGiveBack,
                 [&](Machine& machine) { machine.timeline.DestroyEvent(event); });
}

cudaError_t cudaGetLastError() { return std::exchange(LastError(), cudaSuccess); }

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "cudaSuccess";
    case cudaErrorInvalidValue:
      return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation";
    case cudaErrorInsufficientDriver:
      return "cudaErrorInsufficientDriver";
    case cudaErrorNoDevice:
      return "cudaErrorNoDevice";
    case cudaErrorInvalidDevice:
      return "cudaErrorInvalidDevice";
    case cudaErrorLaunchFailure:
      return "cudaErrorLaunchFailure";
    default:
      return "cudaErrorOther";
  }
}

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorInsufficientDriver:
      return "CUDA driver version is insufficient for CUDA runtime version";
    case cudaErrorNoDevice:
      return "no CUDA-capable device is detected";
    case cudaErrorInvalidDevice:
      return "invalid device ordinal";
    case cudaErrorLaunchFailure:
      return "unspecified launch failure";
    default:
      return "the stand-in refused the call; its violations say why";
  }
}
