// Floats on cache-line boundaries.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>

namespace hogbatch {

// A fixed array of zeros that begins on a 64-byte boundary.
class AlignedFloats {
 public:
  AlignedFloats() = default;
  explicit AlignedFloats(std::int64_t size) : size_(static_cast<std::size_t>(size)) {
    const std::size_t bytes = (size_ * sizeof(float) + 63) / 64 * 64;
    data_.reset(static_cast<float*>(std::aligned_alloc(64, bytes ? bytes : 64)));
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
