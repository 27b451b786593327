// Products of matrices by CLBlast.
#pragma once

#include <CL/cl.h>

#include <cstddef>

#include "gpu/driver.h"
#include "gpu/opencl/errors.h"

namespace hogbatch::opencl {

// CLBlast's own choice of kernels is for GPUs, and several times slower on a processor.
void TuneProductsForProcessor(cl_device_id device, const Complaints& complaints);

// Device memory that CLBlast wants beside the operands: large products are computed from padded
// copies. 0 for small ones. DeviceError for a product that it would get wrong.
std::size_t ScratchBytesFor(const gpu::Product& product, cl_command_queue queue,
                            const Complaints& complaints);

// Queues a product none of whose dimensions is zero. `scratch` is as large as it says above, and
// no other work on another queue uses it.
void QueueProduct(const gpu::Product& product, cl_command_queue queue, cl_mem scratch,
                  const Complaints& complaints);

}  // namespace hogbatch::opencl
