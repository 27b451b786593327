// Blocks of floats that travel to a device and back, for tests of what goes on at the same time.
#pragma once

#include <vector>

#include "tests/device/on_device.h"

namespace hogbatch {

class Transfers : public OnEveryDevice {
 protected:
  static constexpr std::int64_t kFloats = 50'000;

  static std::vector<float> Constant(float value) { return std::vector<float>(kFloats, value); }
  void Send(const std::vector<float>& from, const Buffer& to) {
    device().Upload(std::as_bytes(std::span(from)), to.span<float>().base, 0);
  }
  void Fetch(const Buffer& from, std::vector<float>& to) {
    device().Download(from.span<float>().base, 0, std::as_writable_bytes(std::span(to)));
  }
  Buffer Floats() { return Buffer(device(), kFloats * sizeof(float)); }
  static Tensor All(const Buffer& buffer) { return Tensor::Vector(buffer.span<float>()); }
};

}  // namespace hogbatch
