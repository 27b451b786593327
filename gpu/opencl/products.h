// Products of matrices on an OpenCL device's queue of computations.
#pragma once

#include <CL/cl.h>

#include <memory>

#include "gpu/driver.h"
#include "gpu/opencl/errors.h"

namespace hogbatch::opencl {

class Products {
 public:
  virtual ~Products() = default;
  // Queues a product none of whose dimensions is zero.
  virtual void Queue(const gpu::Product& product) = 0;
};

// By CLBlast. Large products are computed from padded copies in `memory`'s memory, and DeviceError
// is thrown for those it would get wrong.
std::unique_ptr<Products> MakeClBlastProducts(gpu::Driver& memory, cl_command_queue queue,
                                              const Complaints& complaints);

// By the kernels of processor.cl: CLBlast's are for GPUs, with barriers that a processor has to
// unroll, and several times slower there.
std::unique_ptr<Products> MakeProcessorProducts(cl_program program, cl_command_queue queue,
                                                const Complaints& complaints);

}  // namespace hogbatch::opencl
