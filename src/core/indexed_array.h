// An array whose index is an enumeration that counts from 0.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

namespace hogbatch {

template <typename Enum, typename T, std::size_t kSize>
class IndexedArray {
 public:
  constexpr IndexedArray() = default;
  constexpr explicit IndexedArray(std::array<T, kSize> items) : items_(std::move(items)) {}

  constexpr T& operator[](Enum which) { return items_[static_cast<std::size_t>(which)]; }
  constexpr const T& operator[](Enum which) const {
    return items_[static_cast<std::size_t>(which)];
  }
  // For loops over all of them.
  constexpr T& operator[](std::size_t index) { return items_[index]; }
  constexpr const T& operator[](std::size_t index) const { return items_[index]; }

  constexpr auto begin() const { return items_.begin(); }
  constexpr auto end() const { return items_.end(); }

 private:
  std::array<T, kSize> items_ = {};
};

}  // namespace hogbatch
