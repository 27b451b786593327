#include "cpu/thin.h"

#include <type_traits>

#include "cpu/simd.h"

namespace hogbatch::cpu {
namespace {

// Calls work(stride, width) with constants, from which the compiler makes shuffles of vectors.
template <typename F>
[[gnu::always_inline]] inline void WithConstants(std::int64_t stride, std::int64_t width, F work) {
  const auto constant = [&](auto n) __attribute__((always_inline)) {
    return work(decltype(n)::value, decltype(n)::value);
  };
  if (stride == width && width == 1) return constant(std::integral_constant<std::int64_t, 1>());
  if (stride == width && width == 2) return constant(std::integral_constant<std::int64_t, 2>());
  if (stride == width && width == 3) return constant(std::integral_constant<std::int64_t, 3>());
  if (stride == width && width == 4) return constant(std::integral_constant<std::int64_t, 4>());
  work(stride, width);
}

}  // namespace

HOGBATCH_CLONES void CopyColumns(const float* __restrict w, std::int64_t stride,
                                 std::int64_t height, std::int64_t width, float* __restrict rows) {
  WithConstants(stride, width,
                [=](std::int64_t apart, std::int64_t n) __attribute__((always_inline)) {
                  for (std::int64_t k = 0; k < height; ++k) {
                    for (std::int64_t i = 0; i < n; ++i) {
                      rows[i * height + k] = RacyLoad(w + k * apart + i);
                    }
                  }
                });
}

HOGBATCH_CLONES void AddColumns(const float* __restrict rows, float scale, float keep,
                                std::int64_t height, std::int64_t width, float* __restrict w,
                                std::int64_t stride) {
  const auto add = [=](auto before) __attribute__((always_inline)) {
    WithConstants(stride, width,
                  [=](std::int64_t apart, std::int64_t n) __attribute__((always_inline)) {
                    for (std::int64_t k = 0; k < height; ++k) {
                      for (std::int64_t i = 0; i < n; ++i) {
                        float* const to = w + k * apart + i;
                        RacyStore(to, before(to) + scale * rows[i * height + k]);
                      }
                    }
                  });
  };
  if (keep == 0) return add([](const float*) __attribute__((always_inline)) { return 0.0f; });
  add([=](const float* from) __attribute__((always_inline)) { return keep * RacyLoad(from); });
}

}  // namespace hogbatch::cpu
