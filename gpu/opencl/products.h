// Products of matrices by CLBlast.
#pragma once

#include <CL/cl.h>

#include "gpu/driver.h"
#include "gpu/opencl/errors.h"

namespace hogbatch::opencl {

// Queues a product none of whose dimensions is zero.
void QueueProduct(const gpu::Product& product, cl_command_queue queue,
                  const Complaints& complaints);

}  // namespace hogbatch::opencl
