// What a host driver computes with: the shared kernels by name, and products as they are defined.
#pragma once

#include <vector>

#include "gpu/driver.h"

namespace hogbatch::gpu {

// All groups of a kernel, one after the other; within a group items come in an order of [0,
// kItems).
void RunKernel(Kernel kernel, std::int64_t groups, int order,
               const std::vector<KernelArgument>& arguments);

void RunProduct(const Product& product);
void RunProductWithBias(const Product& product, const Tensor& bias, Activation f);
void RunLogSoftmax(const Tensor& x, const Tensor& y);

}  // namespace hogbatch::gpu
