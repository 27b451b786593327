#include "gpu/opencl/errors.h"

#include <clblast_c.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/error.h"

namespace hogbatch::opencl {
namespace {

struct NamedCode {
  cl_int code;
  std::string_view name;
};

#define HOGBATCH_CODE(name) {name, #name}
constexpr NamedCode kCodes[] = {
    HOGBATCH_CODE(CL_DEVICE_NOT_FOUND),
    HOGBATCH_CODE(CL_DEVICE_NOT_AVAILABLE),
    HOGBATCH_CODE(CL_COMPILER_NOT_AVAILABLE),
    HOGBATCH_CODE(CL_MEM_OBJECT_ALLOCATION_FAILURE),
    HOGBATCH_CODE(CL_OUT_OF_RESOURCES),
    HOGBATCH_CODE(CL_OUT_OF_HOST_MEMORY),
    HOGBATCH_CODE(CL_PROFILING_INFO_NOT_AVAILABLE),
    HOGBATCH_CODE(CL_MEM_COPY_OVERLAP),
    HOGBATCH_CODE(CL_BUILD_PROGRAM_FAILURE),
    HOGBATCH_CODE(CL_MAP_FAILURE),
    HOGBATCH_CODE(CL_MISALIGNED_SUB_BUFFER_OFFSET),
    HOGBATCH_CODE(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
    HOGBATCH_CODE(CL_COMPILE_PROGRAM_FAILURE),
    HOGBATCH_CODE(CL_LINKER_NOT_AVAILABLE),
    HOGBATCH_CODE(CL_LINK_PROGRAM_FAILURE),
    HOGBATCH_CODE(CL_KERNEL_ARG_INFO_NOT_AVAILABLE),
    HOGBATCH_CODE(CL_INVALID_VALUE),
    HOGBATCH_CODE(CL_INVALID_DEVICE_TYPE),
    HOGBATCH_CODE(CL_INVALID_PLATFORM),
    HOGBATCH_CODE(CL_INVALID_DEVICE),
    HOGBATCH_CODE(CL_INVALID_CONTEXT),
    HOGBATCH_CODE(CL_INVALID_QUEUE_PROPERTIES),
    HOGBATCH_CODE(CL_INVALID_COMMAND_QUEUE),
    HOGBATCH_CODE(CL_INVALID_HOST_PTR),
    HOGBATCH_CODE(CL_INVALID_MEM_OBJECT),
    HOGBATCH_CODE(CL_INVALID_BINARY),
    HOGBATCH_CODE(CL_INVALID_BUILD_OPTIONS),
    HOGBATCH_CODE(CL_INVALID_PROGRAM),
    HOGBATCH_CODE(CL_INVALID_PROGRAM_EXECUTABLE),
    HOGBATCH_CODE(CL_INVALID_KERNEL_NAME),
    HOGBATCH_CODE(CL_INVALID_KERNEL_DEFINITION),
    HOGBATCH_CODE(CL_INVALID_KERNEL),
    HOGBATCH_CODE(CL_INVALID_ARG_INDEX),
    HOGBATCH_CODE(CL_INVALID_ARG_VALUE),
    HOGBATCH_CODE(CL_INVALID_ARG_SIZE),
    HOGBATCH_CODE(CL_INVALID_KERNEL_ARGS),
    HOGBATCH_CODE(CL_INVALID_WORK_DIMENSION),
    HOGBATCH_CODE(CL_INVALID_WORK_GROUP_SIZE),
    HOGBATCH_CODE(CL_INVALID_WORK_ITEM_SIZE),
    HOGBATCH_CODE(CL_INVALID_GLOBAL_OFFSET),
    HOGBATCH_CODE(CL_INVALID_EVENT_WAIT_LIST),
    HOGBATCH_CODE(CL_INVALID_EVENT),
    HOGBATCH_CODE(CL_INVALID_OPERATION),
    HOGBATCH_CODE(CL_INVALID_BUFFER_SIZE),
    HOGBATCH_CODE(CL_INVALID_GLOBAL_WORK_SIZE),
    HOGBATCH_CODE(CL_INVALID_PROPERTY),
    HOGBATCH_CODE(CLBlastNotImplemented),
    HOGBATCH_CODE(CLBlastInvalidMatrixA),
    HOGBATCH_CODE(CLBlastInvalidMatrixB),
    HOGBATCH_CODE(CLBlastInvalidMatrixC),
    HOGBATCH_CODE(CLBlastInvalidDimension),
    HOGBATCH_CODE(CLBlastInvalidLeadDimA),
    HOGBATCH_CODE(CLBlastInvalidLeadDimB),
    HOGBATCH_CODE(CLBlastInvalidLeadDimC),
    HOGBATCH_CODE(CLBlastInsufficientMemoryA),
    HOGBATCH_CODE(CLBlastInsufficientMemoryB),
    HOGBATCH_CODE(CLBlastInsufficientMemoryC),
    HOGBATCH_CODE(CLBlastInsufficientMemoryTemp),
    HOGBATCH_CODE(CLBlastInvalidLocalMemUsage),
    HOGBATCH_CODE(CLBlastDatabaseError),
    HOGBATCH_CODE(CLBlastUnknownError),
    HOGBATCH_CODE(CLBlastUnexpectedError),
    {-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
    {-9999, "an illegal read or write in a kernel"},  // NVIDIA's, in no header
};
#undef HOGBATCH_CODE

std::string Mebibytes(std::size_t bytes) {
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

}  // namespace

std::string NameOfError(cl_int code) {
  const auto* const found = std::ranges::find(kCodes, code, &NamedCode::code);
  return fmt::format("{} ({})", found == std::end(kCodes) ? "unknown error" : found->name, code);
}

bool IsOutOfMemory(cl_int code) {
  // CLBlast's codes for temporary memory are the same: CLBlastTempBufferAllocFailure is
  // CL_MEM_OBJECT_ALLOCATION_FAILURE. Its CLBlastInsufficientMemoryA … are errors of the caller.
  return code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_HOST_MEMORY;
}

void ErrorReporter::Check(cl_int code, std::string_view call) const {
  if (code == CL_SUCCESS) return;
  const std::string sentence = fmt::format("{}: {} failed: {}", device_, call, NameOfError(code));
  if (IsOutOfMemory(code)) throw OutOfDeviceMemory(sentence);
  throw DeviceError(sentence);
}

void ErrorReporter::CheckMemory(cl_int code, std::string_view call, std::size_t bytes) const {
  if (IsOutOfMemory(code) || code == CL_INVALID_BUFFER_SIZE) {
    ThrowOutOfMemory(bytes, fmt::format("{} failed: {}", call, NameOfError(code)));
  }
  Check(code, call);
}

void ErrorReporter::Throw(std::string_view reason) const {
  throw DeviceError(fmt::format("{}: {}", device_, reason));
}

void ErrorReporter::ThrowOutOfMemory(std::size_t bytes, std::string_view reason) const {
  throw OutOfDeviceMemory(
      fmt::format("{}: no memory for {}: {}", device_, Mebibytes(bytes), reason));
}

}  // namespace hogbatch::opencl
