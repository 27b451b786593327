// The names of the shared kernels, for C++. Their parameters are in kernels/kernels.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/indexed_vector.h"

#define HOGBATCH_KERNELS(X) \
  X(hb_activate)            \
  X(hb_slope)               \
  X(hb_column_sums)         \
  X(hb_csr_forward)         \
  X(hb_csr_scatter)         \
  X(hb_softmax_loss)        \
  X(hb_softmax_finish)      \
  X(hb_sigmoid_loss)        \
  X(hb_squared_loss)        \
  X(hb_add_scaled)          \
  X(hb_add_rows)            \
  X(hb_scale_rows)          \
  X(hb_scale_lanes)         \
  X(hb_fill)                \
  X(hb_momentum)            \
  X(hb_adam)

namespace hogbatch::gpu {

// Work items per group: HB_ITEMS of kernels/kernels.h.
inline constexpr int kItems = 256;

#define HOGBATCH_NAME(name) name,
enum class Kernel : std::uint8_t { HOGBATCH_KERNELS(HOGBATCH_NAME) };
#undef HOGBATCH_NAME

#define HOGBATCH_ONE(name) +1
inline constexpr std::size_t kKernels = 0 HOGBATCH_KERNELS(HOGBATCH_ONE);
#undef HOGBATCH_ONE

#define HOGBATCH_NAME(name) #name,
inline constexpr IndexedArray<Kernel, std::string_view, kKernels> kKernelNames(
    {HOGBATCH_KERNELS(HOGBATCH_NAME)});
#undef HOGBATCH_NAME

}  // namespace hogbatch::gpu
