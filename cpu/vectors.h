// Vectors of any width, by the compiler's vector extension. The width is a template parameter: a
// program picks one by the processor it finds, a test runs them all.
#pragma once

#include <cstdint>

#include "core/racy.h"

// All functions on vectors are inlined, so no calling convention matters.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace hogbatch::cpu {

template <int kWidth>
struct Vector {
  typedef float Type __attribute__((vector_size(kWidth * sizeof(float))));
  // The same at any address that a float may have.
  typedef float Anywhere
      __attribute__((vector_size(kWidth * sizeof(float)), aligned(sizeof(float)), may_alias));
};

// Which operand of a product is shared weights. Only a thread-sanitizer build reads it differently.
enum class Shared : std::uint8_t { kNone, kA, kB };

[[gnu::always_inline]] inline float LoadFloat(const float* from, [[maybe_unused]] bool is_shared) {
#ifdef HOGBATCH_TSAN
  if (is_shared) return RacyLoad(from);
#endif
  return *from;
}

template <int kWidth>
[[gnu::always_inline]] inline typename Vector<kWidth>::Type Load(const float* from,
                                                                 [[maybe_unused]] bool is_shared) {
#ifdef HOGBATCH_TSAN
  if (is_shared) {
    typename Vector<kWidth>::Type v;
    for (int i = 0; i < kWidth; ++i) v[i] = RacyLoad(from + i);
    return v;
  }
#endif
  return *reinterpret_cast<const typename Vector<kWidth>::Anywhere*>(from);
}

template <int kWidth>
[[gnu::always_inline]] inline void Store(const typename Vector<kWidth>::Type& v, float* to) {
  *reinterpret_cast<typename Vector<kWidth>::Anywhere*>(to) = v;
}

// The sum of a vector's elements, by halves.
template <int kWidth>
[[gnu::always_inline]] inline float Sum(const typename Vector<kWidth>::Type& v) {
  if constexpr (kWidth == 1) {
    return v[0];
  } else {
    typename Vector<kWidth / 2>::Type halves[2];
    __builtin_memcpy(halves, &v, sizeof(v));
    return Sum<kWidth / 2>(halves[0] + halves[1]);
  }
}

}  // namespace hogbatch::cpu
