// Device memory for what comes with every batch. Blocks are reused in the order of the calls of
// Take, and grow to the largest batch so far.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device/buffer.h"
#include "device/device.h"

namespace hogbatch {

class ReusedMemory {
 public:
  explicit ReusedMemory(Device& device) : device_(device) {}

  // Reuses all blocks from here on. Queued calls may still use their contents: new contents come
  // later in the queue.
  void Restart() { next_ = 0; }

  // Frees all memory. No queued call may use it.
  void Release() {
    Restart();
    blocks_.clear();
  }

  // The device memory behind a span of `bytes`: whole cache lines, and one line for an empty span,
  // so that every span has an address on the device.
  static std::int64_t BlockBytes(std::int64_t bytes) {
    constexpr std::int64_t kLine = 64;
    return bytes > 0 ? (bytes + kLine - 1) / kLine * kLine : kLine;
  }

  // Room for `count` elements, valid until Restart.
  template <typename T>
  DeviceSpan<T> Take(std::int64_t count) {
    if (next_ == blocks_.size()) blocks_.emplace_back();
    Buffer& block = blocks_[next_++];
    const std::size_t bytes = BlockBytes(count * static_cast<std::int64_t>(sizeof(T)));
    if (block.bytes() < bytes) {
      if (block.bytes() > 0) device_.Wait();  // for calls that use the old block
      block = Buffer();                       // there may be no room for both
      block = Buffer(device_, bytes);
    }
    return block.span<T>().Sub(0, count);
  }

  // Queues a copy of host memory, which must not change until the device has been waited for.
  template <typename T>
  DeviceSpan<T> Upload(std::span<const T> from) {
    const DeviceSpan<T> to = Take<T>(static_cast<std::int64_t>(from.size()));
    if (!from.empty()) device_.Upload(std::as_bytes(from), to.base, 0);
    return to;
  }

 private:
  Device& device_;
  std::vector<Buffer> blocks_;
  std::size_t next_ = 0;
};

}  // namespace hogbatch
