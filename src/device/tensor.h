// Views of device memory: an address that only its device can use, and a shape.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "core/error.h"

namespace hogbatch {

// `size` elements of T that begin `offset` elements into a block of device memory. `base` is a host
// address on a device that shares host memory, or else a handle of the device: a CUDA address, a
// cl_mem.
template <typename T>
struct DeviceSpan {
  void* base = nullptr;
  std::int64_t offset = 0;
  std::int64_t size = 0;

  DeviceSpan Sub(std::int64_t first, std::int64_t count) const {
    Check(first >= 0 && count >= 0 && first + count <= size,
          "a device span reaches past its block");
    return {base, offset + first, count};
  }
  operator DeviceSpan<const T>() const
    requires(!std::is_const_v<T>)
  {
    return {base, offset, size};
  }
  std::size_t offset_bytes() const { return offset * sizeof(T); }
  // On a device that shares host memory.
  T* host() const { return static_cast<T*>(base) + offset; }
  std::span<T> host_span() const { return {host(), static_cast<std::size_t>(size)}; }
};

// Host memory as a device that shares it sees it.
template <typename T>
DeviceSpan<T> HostSpan(T* data, std::int64_t size) {
  return {const_cast<std::remove_const_t<T>*>(data), 0, size};
}
template <typename T>
DeviceSpan<T> HostSpan(std::span<T> data) {
  return HostSpan(data.data(), static_cast<std::int64_t>(data.size()));
}

// A row-major matrix; rows lie `stride` floats apart. A vector is a matrix of one row.
struct Tensor {
  DeviceSpan<float> data;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t stride = 0;

  static Tensor Matrix(DeviceSpan<float> data, std::int64_t rows, std::int64_t cols) {
    return {data.Sub(0, rows * cols), rows, cols, cols};
  }
  static Tensor Vector(DeviceSpan<float> data) { return {data, 1, data.size, data.size}; }

  bool empty() const { return data.size == 0; }
  float* host() const { return data.host(); }
  // Rows [first, first + count).
  Tensor Slice(std::int64_t first, std::int64_t count) const {
    Check(first >= 0 && count >= 0 && first + count <= rows,
          "a tensor has fewer rows than asked for");
    return {data.Sub(count == 0 ? 0 : first * stride, count == 0 ? 0 : (count - 1) * stride + cols),
            count, cols, stride};
  }
  // Columns [first, first + count).
  Tensor Columns(std::int64_t first, std::int64_t count) const {
    Check(first >= 0 && count >= 0 && first + count <= cols,
          "a tensor has fewer columns than asked for");
    const std::int64_t floats = rows == 0 || count == 0 ? 0 : (rows - 1) * stride + count;
    return {data.Sub(floats == 0 ? 0 : first, floats), rows, count, stride};
  }
  // The first `count` rows: a small batch in the scratch of a large one.
  Tensor Rows(std::int64_t count) const { return Slice(0, count); }
};

// Sparse rows: row r has entries offsets[r] … offsets[r + 1] of `columns` and `values`. Columns
// within a row ascend without repetition.
struct CsrTensor {
  DeviceSpan<const std::int64_t> offsets;  // rows + 1, into the two spans below
  DeviceSpan<const std::int32_t> columns;
  DeviceSpan<const float> values;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
};

}  // namespace hogbatch
