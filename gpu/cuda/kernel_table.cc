#include "gpu/cuda/kernel_table.h"

#include <array>
#include <type_traits>

// To this file a kernel is a plain function. In the plug-in it is the one that nvcc makes beside
// each kernel, whose address tells cudaLaunchKernel which kernel is meant; nothing here calls it.
#include "gpu/kernels/kernels.h"

namespace hogbatch::cuda {
namespace {

using gpu::ArgumentType;

static_assert(HB_LANES == gpu::kLanes);
static_assert(sizeof(long) == sizeof(std::int64_t));

template <typename Parameter>
constexpr ArgumentType TypeOf() {
  if constexpr (std::is_pointer_v<Parameter>) return ArgumentType::kAddress;
  if constexpr (std::is_same_v<Parameter, long>) return ArgumentType::kLong;
  if constexpr (std::is_same_v<Parameter, int>) return ArgumentType::kInt;
  if constexpr (std::is_same_v<Parameter, float>) return ArgumentType::kFloat;
}

template <typename... Parameters>
KernelEntry Entry(void (*kernel)(Parameters...)) {
  static constexpr std::array types = {TypeOf<Parameters>()...};
  return {reinterpret_cast<const void*>(kernel), types};
}

}  // namespace

const KernelEntry& Find(gpu::Kernel kernel) {
#define HOGBATCH_ENTRY(name) Entry(name),
  static const std::array table = {HOGBATCH_KERNELS(HOGBATCH_ENTRY)};
#undef HOGBATCH_ENTRY
  return table[static_cast<std::size_t>(kernel)];
}

}  // namespace hogbatch::cuda
