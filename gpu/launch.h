// Calls of the shared kernels. The compiler checks the arguments against the kernels' declarations.
// The kernels themselves are not needed here: with OpenCL they are not part of the program.
#pragma once

#include <array>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include "gpu/driver.h"
#include "gpu/kernels/kernels.h"

namespace hogbatch::gpu {

template <Kernel kernel>
struct Declared;
#define HOGBATCH_DECLARED(name)         \
  template <>                           \
  struct Declared<Kernel::name> {       \
    using Function = decltype(::name)*; \
  };
HOGBATCH_KERNELS(HOGBATCH_DECLARED)
#undef HOGBATCH_DECLARED

static_assert(kItems == HB_ITEMS);
static_assert(std::is_same_v<std::int64_t, long>);

// A matrix is passed as address, offset and stride, a span as address and offset: HB_READ_MATRIX
// and HB_READ of kernels.h. Stride 0 means no matrix, so a matrix of one row gets another stride.
inline auto Flatten(const Tensor& t) {
  const std::int64_t stride = t.empty() ? 0 : t.stride == 0 ? t.cols : t.stride;
  return std::tuple(static_cast<float*>(t.data.base), t.data.offset, stride);
}
template <typename T>
auto Flatten(const DeviceSpan<T>& span) {
  return std::tuple(static_cast<T*>(span.base), span.offset);
}
template <typename T>
  requires std::is_arithmetic_v<T>
auto Flatten(T number) {
  return std::tuple(number);
}

template <typename T>
constexpr ArgumentType TypeOf() {
  if constexpr (std::is_pointer_v<T>) {
    return ArgumentType::kAddress;
  } else if constexpr (std::is_same_v<T, float>) {
    return ArgumentType::kFloat;
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    return ArgumentType::kLong;
  } else {
    static_assert(std::is_same_v<T, std::int32_t>, "kernels take no arguments of other types");
    return ArgumentType::kInt;
  }
}

template <typename T>
KernelArgument ToArgument(T value) {
  if constexpr (std::is_pointer_v<T>) {
    return {.address = const_cast<void*>(static_cast<const void*>(value))};
  } else if constexpr (std::is_same_v<T, float>) {
    return {.number = value};
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    return {.integer = value};
  } else {
    return {.word = value};
  }
}

// The arguments of a kernel with these parameters.
template <typename... Parameters>
struct Arguments {
  static constexpr std::array<ArgumentType, sizeof...(Parameters)> kTypes = {
      TypeOf<Parameters>()...};
  std::array<KernelArgument, sizeof...(Parameters)> values;
};

// Writable memory may be passed for reading. Otherwise types must match exactly.
template <typename Given, typename Parameter>
inline constexpr bool kFits = std::is_pointer_v<Given> ? std::is_convertible_v<Given, Parameter>
                                                       : std::is_same_v<Given, Parameter>;

template <typename... Parameters, typename... Given>
auto Match(void (* /*kernel*/)(Parameters...), const std::tuple<Given...>& given) {
  static_assert(sizeof...(Parameters) == sizeof...(Given), "the kernel has other parameters");
  static_assert((kFits<Given, Parameters> && ...), "an argument is of another type");
  return std::apply([](auto... value) { return Arguments<Parameters...>{{ToArgument(value)...}}; },
                    given);
}

// MakeArguments<Kernel::hb_fill>(y, value, rows, cols)
template <Kernel kernel, typename... Given>
auto MakeArguments(const Given&... given) {
  return Match(typename Declared<kernel>::Function{}, std::tuple_cat(Flatten(given)...));
}

}  // namespace hogbatch::gpu
