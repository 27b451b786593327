#include "gpu/opencl/program.h"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "gpu/opencl/queries.h"

namespace hogbatch::opencl {
namespace {

constexpr char kOptions[] = "-cl-std=CL1.2";
constexpr std::size_t kLogCharacters = 4000;

// Everything that a binary depends on.
std::string IdentityOf(const FoundDevice& device, std::string_view source) {
  return fmt::format("{}\n{}\n{}\n{}\n{}", device.hardware_name, device.driver_version,
                     device.platform_version, kOptions, source);
}

cl_int Build(cl_program program, cl_device_id device) {
  return clBuildProgram(program, 1, &device, kOptions, nullptr, nullptr);
}

// Null if the OpenCL implementation rejects it, for any reason.
Program FromBinary(cl_device_id device, cl_context context, std::string_view binary) {
  const std::size_t size = binary.size();
  const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
  cl_int status = CL_SUCCESS, code = CL_SUCCESS;
  Program program(clCreateProgramWithBinary(context, 1, &device, &size, &bytes, &status, &code));
  if (code != CL_SUCCESS || status != CL_SUCCESS) return nullptr;
  if (Build(program.get(), device) != CL_SUCCESS) return nullptr;
  return program;
}

// Empty if there is none.
std::string BinaryOf(cl_program program) {
  std::size_t size = 0;
  if (clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, nullptr) !=
      CL_SUCCESS) {
    return {};
  }
  std::string binary(size, '\0');
  char* bytes = binary.data();
  if (clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(bytes), &bytes, nullptr) !=
      CL_SUCCESS) {
    return {};
  }
  return binary;
}

std::string LogOf(cl_program program, cl_device_id device) {
  std::string log = TextFrom([&](std::size_t size, void* answer, std::size_t* needed) {
    return clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, answer, needed);
  });
  if (log.empty()) return "its compiler says nothing more";
  if (log.size() > kLogCharacters) log.replace(kLogCharacters, std::string::npos, "\n…");
  return log;
}

Program Compile(const FoundDevice& device, cl_context context, std::string_view source) {
  const ErrorReporter reporter = device.reporter();
  const char* text = source.data();
  const std::size_t size = source.size();
  cl_int code = CL_SUCCESS;
  Program program(clCreateProgramWithSource(context, 1, &text, &size, &code));
  reporter.Check(code, "clCreateProgramWithSource");
  code = Build(program.get(), device.id);
  if (code == CL_BUILD_PROGRAM_FAILURE) {
    reporter.Throw(fmt::format("the kernels do not compile with driver {}; please report it: {}",
                               device.driver_version, LogOf(program.get(), device.id)));
  }
  reporter.Check(code, "clBuildProgram");
  return program;
}

}  // namespace

BuiltProgram BuildProgram(const FoundDevice& device, cl_context context, std::string_view source,
                          const ProgramCache& cache) {
  const std::string identity = IdentityOf(device, source);
  if (const std::optional<std::string> binary = cache.Load(identity)) {
    if (Program program = FromBinary(device.id, context, *binary)) {
      return {std::move(program), BuiltProgram::Origin::kCached};
    }
  }
  Program program = Compile(device, context, source);
  if (const std::string binary = BinaryOf(program.get()); !binary.empty()) {
    cache.Save(identity, binary);
  }
  return {std::move(program), BuiltProgram::Origin::kCompiled};
}

KernelObject MakeKernel(cl_program program, const std::string& name,
                        const ErrorReporter& reporter) {
  cl_int code = CL_SUCCESS;
  KernelObject kernel(clCreateKernel(program, name.c_str(), &code));
  reporter.Check(code, fmt::format("clCreateKernel of {}", name));
  return kernel;
}

}  // namespace hogbatch::opencl
