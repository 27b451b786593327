// The frame around the entry points of the CUDA runtime.
#pragma once

#include <driver_types.h>

#include <functional>

#include "tests/gpu/cuda_standin/machine.h"

namespace hogbatch::standin {

// Run() in the runtime's codes; remembers the last error for cudaGetLastError.
cudaError_t RunCuda(const char* call, Purpose purpose, const std::function<void(Machine&)>& body);

}  // namespace hogbatch::standin
