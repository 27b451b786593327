// Floats on cache-line boundaries, in huge pages if there are many.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>

namespace hogbatch {

// Memory for at least `bytes`, to be released by std::free; null if there is none. Large blocks ask
// for huge pages: a tile that walks down a matrix touches a new small page every row or two. A
// system without huge pages ignores it.
inline void* AllocateAligned(std::size_t bytes) {
  constexpr std::size_t kLine = 64, kHugePage = std::size_t{2} << 20;
  const std::size_t boundary = bytes >= kHugePage / 2 ? kHugePage : kLine;
  const std::size_t rounded = bytes == 0 ? kLine : (bytes + boundary - 1) / boundary * boundary;
  if (rounded < bytes) return nullptr;  // past the end of all numbers
  void* const memory = std::aligned_alloc(boundary, rounded);
  if (memory && boundary == kHugePage) madvise(memory, rounded, MADV_HUGEPAGE);
  return memory;
}

// A fixed array of zeros that begins on a 64-byte boundary.
class AlignedFloats {
 public:
  AlignedFloats() = default;
  explicit AlignedFloats(std::int64_t size) : size_(size) {
    data_.reset(static_cast<float*>(AllocateAligned(size_ * sizeof(float))));
    if (!data_) throw std::bad_alloc();
    std::fill_n(data_.get(), size_, 0.0f);
  }

  float* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  std::span<float> span() const { return {data_.get(), size_}; }

 private:
  struct Release {
    void operator()(float* data) const { std::free(data); }
  };
  std::unique_ptr<float, Release> data_;
  std::size_t size_ = 0;
};

}  // namespace hogbatch
