// The kernels, compiled for an OpenCL device.
#pragma once

#include <string>
#include <string_view>

#include "gpu/opencl/devices.h"
#include "gpu/opencl/handles.h"
#include "gpu/opencl/program_cache.h"

namespace hogbatch::opencl {

// kernels.h and the parts of kernels.inc as one text.
std::string_view KernelSource();
// processor.cl, which follows that text on processors.
std::string_view ProcessorSource();

struct BuiltProgram {
  enum class Origin { kCompiled, kCached };
  Program program;
  Origin origin = Origin::kCompiled;
};

// Compiles `source`, or loads what an earlier run compiled. DeviceError with the compiler's log if
// it does not compile.
BuiltProgram BuildProgram(const FoundDevice& device, cl_context context, std::string_view source,
                          const ProgramCache& cache);

// DeviceError if the program has no kernel of this name.
KernelObject MakeKernel(cl_program program, const std::string& name, const ErrorReporter& reporter);

}  // namespace hogbatch::opencl
