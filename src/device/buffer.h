// Owners of the memory that a device allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "device/device.h"

namespace hogbatch {

// Owns a block of a device's memory.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Device& device, std::size_t bytes)
      : device_(&device), base_(bytes ? device.Allocate(bytes) : nullptr), bytes_(bytes) {}
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer(std::move(other)).swap(*this);
    return *this;
  }
  ~Buffer() {
    if (base_) device_->Free(base_);
  }

  template <typename T>
  DeviceSpan<T> span() const {
    return {base_, 0, static_cast<std::int64_t>(bytes_ / sizeof(T))};
  }
  std::size_t bytes() const { return bytes_; }

 private:
  void swap(Buffer& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(base_, other.base_);
    std::swap(bytes_, other.bytes_);
  }

  Device* device_ = nullptr;
  void* base_ = nullptr;
  std::size_t bytes_ = 0;
};

// Owns host memory that a device allocated: see Device::AllocateHost.
class HostBuffer {
 public:
  HostBuffer() = default;
  HostBuffer(Device& device, std::size_t bytes)
      : memory_(bytes ? device.AllocateHost(bytes) : nullptr, Release{&device}), bytes_(bytes) {}

  template <typename T>
  std::span<T> span() const {
    return {static_cast<T*>(memory_.get()), bytes() / sizeof(T)};
  }
  std::size_t bytes() const { return memory_ ? bytes_ : 0; }

 private:
  struct Release {
    Device* device;
    void operator()(void* memory) const noexcept { device->FreeHost(memory); }
  };
  std::unique_ptr<void, Release> memory_;
  std::size_t bytes_ = 0;
};

}  // namespace hogbatch
