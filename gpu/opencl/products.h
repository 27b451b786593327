// Products of matrices on the compute queue of an OpenCL device.
#pragma once

#include <CL/cl.h>

#include <memory>

#include "gpu/driver.h"
#include "gpu/opencl/errors.h"

namespace hogbatch::opencl {

class Products {
 public:
  virtual ~Products() = default;
  // Queues a product. No dimension may be 0.
  virtual void Queue(const gpu::Product& product) = 0;
};

// Products by CLBlast. Large ones use padded copies, in memory of `memory`. DeviceError for
// products that CLBlast would compute wrongly.
std::unique_ptr<Products> MakeClBlastProducts(gpu::Driver& memory, cl_command_queue queue,
                                              const ErrorReporter& reporter);

// Products by the kernels of processor.cl. CLBlast's kernels are made for GPUs; their barriers make
// them several times slower on a processor.
std::unique_ptr<Products> MakeProcessorProducts(cl_program program, cl_command_queue queue,
                                                const ErrorReporter& reporter);

}  // namespace hogbatch::opencl
