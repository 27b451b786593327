// Where the shared kernels are.
#pragma once

#include "gpu/driver.h"

namespace hogbatch::cuda {

// What cudaLaunchKernel knows a kernel by: the address of the function that stands for it on the
// host.
const void* StandsFor(gpu::Kernel kernel);

}  // namespace hogbatch::cuda
