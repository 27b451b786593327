// Queries of OpenCL objects.
#pragma once

#include <CL/cl.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace hogbatch::opencl {

// Removes blanks and zero bytes at both ends, with which vendors pad their answers.
inline std::string Trimmed(std::string_view text) {
  constexpr std::string_view kPadding(" \t\r\n\0", 5);
  const std::size_t first = text.find_first_not_of(kPadding);
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(kPadding) - first + 1));
}

// The text that `ask(size, answer, size_of_answer)`, the last arguments of any clGet…Info, returns;
// empty if it fails.
template <typename Ask>
std::string TextFrom(Ask ask) {
  std::size_t size = 0;
  if (ask(std::size_t{0}, nullptr, &size) != CL_SUCCESS) return {};
  std::string text(size, '\0');
  if (ask(size, text.data(), nullptr) != CL_SUCCESS) return {};
  return Trimmed(text);
}

inline std::string TextOf(cl_device_id device, cl_device_info query) {
  return TextFrom([&](std::size_t size, void* answer, std::size_t* needed) {
    return clGetDeviceInfo(device, query, size, answer, needed);
  });
}

inline std::string TextOf(cl_platform_id platform, cl_platform_info query) {
  return TextFrom([&](std::size_t size, void* answer, std::size_t* needed) {
    return clGetPlatformInfo(platform, query, size, answer, needed);
  });
}

// Zero if there is no answer.
template <typename T>
T NumberOf(cl_device_id device, cl_device_info query) {
  T value{};
  const cl_int code = clGetDeviceInfo(device, query, sizeof(T), &value, nullptr);
  return code == CL_SUCCESS ? value : T{};
}

}  // namespace hogbatch::opencl
