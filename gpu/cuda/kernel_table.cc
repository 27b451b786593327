#include "gpu/cuda/kernel_table.h"

#include <array>

// To this file a kernel is a plain function. In the plug-in it is the one that nvcc makes beside
// each kernel and registers with CUDA; nothing here calls it.
#include "gpu/kernels/kernels.h"

namespace hogbatch::cuda {

const void* StandsFor(gpu::Kernel kernel) {
#define HOGBATCH_ADDRESS(name) reinterpret_cast<const void*>(&name),
  static const std::array addresses = {HOGBATCH_KERNELS(HOGBATCH_ADDRESS)};
#undef HOGBATCH_ADDRESS
  return addresses[static_cast<std::size_t>(kernel)];
}

}  // namespace hogbatch::cuda
