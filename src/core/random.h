// Seeded random numbers that are the same on every machine and standard library.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <utility>
#include <vector>

namespace hogbatch {

// SplitMix64: one multiply-xor chain per number, any seed is a good seed.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  // An independent stream for a numbered part: an epoch, a layer, a worker.
  Random(std::uint64_t seed, std::uint64_t stream) : Random(seed) {
    state_ ^= Random(stream + 0x632be59bd9b4e019u).Next();
  }

  std::uint64_t Next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  // Uniform in [0, 1).
  double Uniform() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

  // Uniform in [0, bound); bound > 0 and far below 2^53.
  std::int64_t Below(std::int64_t bound) {
    return static_cast<std::int64_t>(Uniform() * static_cast<double>(bound));
  }

  // Normal with mean 0 and deviation 1 (Box-Muller).
  double Normal() {
    const double radius = std::sqrt(-2 * std::log(1 - Uniform()));
    return radius * std::cos(2 * std::numbers::pi * Uniform());
  }

  // A uniformly random order of 0 … count-1.
  std::vector<std::int64_t> Permutation(std::int64_t count) {
    std::vector<std::int64_t> order(count);
    std::iota(order.begin(), order.end(), std::int64_t{0});
    for (std::int64_t i = count - 1; i > 0; --i) {
      std::swap(order[i], order[Below(i + 1)]);
    }
    return order;
  }

 private:
  std::uint64_t state_;
};

}  // namespace hogbatch
