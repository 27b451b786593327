// The shared kernels, as CUDA identifies them.
#pragma once

#include "gpu/driver.h"

namespace hogbatch::cuda {

// The address of the kernel's host stub, by which cudaLaunchKernel identifies it.
const void* StandsFor(gpu::Kernel kernel);

}  // namespace hogbatch::cuda
