// OpenCL 1.2 (the version is set by the build), and owners of its objects.
#pragma once

#include <CL/cl.h>

#include <memory>
#include <type_traits>

namespace hogbatch::opencl {

template <auto release>
struct Releaser {
  template <typename Object>
  void operator()(Object* object) const noexcept {
    release(object);
  }
};
template <typename Pointer, auto release>
using Handle = std::unique_ptr<std::remove_pointer_t<Pointer>, Releaser<release>>;

using Context = Handle<cl_context, clReleaseContext>;
using Queue = Handle<cl_command_queue, clReleaseCommandQueue>;
using Memory = Handle<cl_mem, clReleaseMemObject>;
using Program = Handle<cl_program, clReleaseProgram>;
using KernelObject = Handle<cl_kernel, clReleaseKernel>;

}  // namespace hogbatch::opencl
