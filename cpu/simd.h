// For vectorised loops: copies of a function for newer processors (core/clones.h), and exp in a
// form that compilers vectorise.
#pragma once

#include <bit>
#include <cstdint>

#include "core/clones.h"
#include "core/racy.h"

namespace hogbatch::cpu {

// Everything below must be inlined into the copies. Otherwise they would call code for the oldest
// processor.

// e^x = scale · rest + scale and e^x - 1 = scale · rest + (scale - 1). Both keep all their digits.
struct ExpParts {
  float scale;  // 2^n
  float rest;   // e^r - 1, where x = n · ln 2 + r and |r| <= ln 2 / 2
};

// For |x| <= 87, with a relative error of about 2e-7. NaN stays NaN.
[[gnu::always_inline]] inline ExpParts SplitExp(float x) {
  constexpr float kLog2E = 1.44269504f;
  constexpr float kLn2High = 0.693359375f;  // has few bits, so that n · kLn2High is exact
  constexpr float kLn2Low = -2.12194440e-4f;
  constexpr float kRound = 12582912.0f;  // 1.5 · 2^23: adding it rounds to an integer
  const float shifted = x * kLog2E + kRound;
  const float n = shifted - kRound;
  const float r = (x - n * kLn2High) - n * kLn2Low;
  float p = 1.0f / 5040;
  p = p * r + 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * r * r + r;
  // The low bits of `shifted` are n. Moved to the place of the exponent they give 2^n.
  const std::uint32_t bits = (std::bit_cast<std::uint32_t>(shifted) + 127u) << 23;
  return {std::bit_cast<float>(bits), p};
}

// NaN fails both comparisons and stays NaN.
[[gnu::always_inline]] inline float Clamp(float x, float limit) {
  const float low = x < -limit ? -limit : x;
  return low > limit ? limit : low;
}

[[gnu::always_inline]] inline float Exp(float x, float limit = 87.0f) {
  const ExpParts e = SplitExp(Clamp(x, limit));
  return e.scale * e.rest + e.scale;
}

[[gnu::always_inline]] inline float Sigmoid(float x, float limit = 87.0f) {
  return 1.0f / (1.0f + Exp(-x, limit));
}

[[gnu::always_inline]] inline float Tanh(float x) {
  const ExpParts e = SplitExp(Clamp(2 * x, 40.0f));
  const float expm1 = e.scale * e.rest + (e.scale - 1);
  return expm1 / (expm1 + 2);
}

// Of normal numbers above 0. NaN stays NaN.
[[gnu::always_inline]] inline float Log(float x) {
  // x = m · 2^n with m from sqrt(1/2) to sqrt(2), and log m = 2 atanh((m - 1) / (m + 1)).
  constexpr std::uint32_t kRootOfHalf = 0x3f3504f3u;
  const std::uint32_t above = std::bit_cast<std::uint32_t>(x) - kRootOfHalf;
  const auto n = static_cast<float>(static_cast<std::int32_t>(above) >> 23);
  const float m = std::bit_cast<float>((above & 0x007fffffu) + kRootOfHalf);
  const float s = (m - 1) / (m + 1);
  const float q = s * s;
  float p = 1.0f / 9;
  p = p * q + 1.0f / 7;
  p = p * q + 1.0f / 5;
  p = p * q + 1.0f / 3;
  return 2 * (p * q * s + s) + n * 0.69314718f + (x - x);
}

// log(1 + e) for 0 <= e <= 1: the series of 2 atanh(e / (2 + e)).
[[gnu::always_inline]] inline float Log1p(float e) {
  const float s = e / (2 + e);
  const float q = s * s;
  float p = 1.0f / 13;
  p = p * q + 1.0f / 11;
  p = p * q + 1.0f / 9;
  p = p * q + 1.0f / 7;
  p = p * q + 1.0f / 5;
  p = p * q + 1.0f / 3;
  return 2 * (p * q * s + s);
}

}  // namespace hogbatch::cpu
