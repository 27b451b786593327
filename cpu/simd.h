// What every vectorised loop of this folder needs: copies for newer processors (core/clones.h), and
// exp in a form that compilers vectorise.
#pragma once

#include <bit>
#include <cstdint>

#include "core/clones.h"
#include "core/racy.h"

namespace hogbatch::cpu {

// Everything below must be inlined into the copies, or it would call the oldest processor's code.

// e^x - 1 = scale · rest + (scale - 1), so that neither form of exp loses digits to the other.
struct ExpParts {
  float scale;  // 2^n
  float rest;   // e^r - 1 for the r with |r| <= ln 2 / 2 that 2^n leaves
};

// For |x| <= 87; to about 2e-7. A NaN stays one.
[[gnu::always_inline]] inline ExpParts SplitExp(float x) {
  constexpr float kLog2E = 1.44269504f;
  constexpr float kLn2High = 0.693359375f;  // exact in few bits, so that n times it is exact
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
  // The low bits of `shifted` hold n; moved into the exponent's place they make 2^n.
  const std::uint32_t bits = (std::bit_cast<std::uint32_t>(shifted) + 127u) << 23;
  return {std::bit_cast<float>(bits), p};
}

// Comparisons are written so that NaN fails them and passes through.
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
