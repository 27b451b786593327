// Where the shared kernels are, and what they take.
#pragma once

#include <span>

#include "gpu/driver.h"

namespace hogbatch::cuda {

struct KernelEntry {
  const void* address;  // of the function that stands for the kernel on the host's side
  std::span<const gpu::ArgumentType> parameters;
};

const KernelEntry& Find(gpu::Kernel kernel);

}  // namespace hogbatch::cuda
