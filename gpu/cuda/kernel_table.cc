#include "gpu/cuda/kernel_table.h"

#include "core/indexed_vector.h"

// This file declares a kernel as a plain function. In the plug-in this is the host stub that nvcc
// makes for each kernel and registers with CUDA. Only its address is used.
#include "gpu/kernels/kernels.h"

namespace hogbatch::cuda {

const void* StandsFor(gpu::Kernel kernel) {
#define HOGBATCH_ADDRESS(name) reinterpret_cast<const void*>(&name),
  static const IndexedArray<gpu::Kernel, const void*, gpu::kKernels> addresses(
      {HOGBATCH_KERNELS(HOGBATCH_ADDRESS)});
#undef HOGBATCH_ADDRESS
  return addresses[kernel];
}

}  // namespace hogbatch::cuda
