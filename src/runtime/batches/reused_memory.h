// Device memory for what comes with every batch: blocks are used again in the order in which they
// are asked for, and grow to the largest batch so far.
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

  // Everything taken so far is given back. What is queued may still use it: new contents come
  // behind it in the queue.
  void Restart() { next_ = 0; }

  // Gives all memory back. Nothing queued may use it.
  void Release() {
    Restart();
    blocks_.clear();
  }

  // What the spans below take of a device: whole cache lines, and one even for nothing, so that
  // every span has an address of the device.
  static std::int64_t BlockBytes(std::int64_t bytes) {
    constexpr std::int64_t kLine = 64;
    return bytes > 0 ? (bytes + kLine - 1) / kLine * kLine : kLine;
  }

  // Room for `count` elements; good until Restart.
  template <typename T>
  DeviceSpan<T> Take(std::int64_t count) {
    if (next_ == blocks_.size()) blocks_.emplace_back();
    Buffer& block = blocks_[next_++];
    const auto bytes =
        static_cast<std::size_t>(BlockBytes(count * static_cast<std::int64_t>(sizeof(T))));
    if (block.bytes() < bytes) {
      if (block.bytes() > 0) device_.Wait();  // for what is queued on the old one
      block = Buffer();                       // first: there may be no room for both
      block = Buffer(device_, bytes);
    }
    return block.span<T>().Sub(0, count);
  }

  // Queues a copy of host memory, which must stay as it is until the device is waited for.
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
