// A vector whose index is an id, so that a team's id cannot index a worker's data, and an array
// whose index is an id or an enumeration that counts from 0.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <ranges>
#include <utility>
#include <vector>

namespace hogbatch {

template <typename Id, typename T>
class IndexedVector {
 public:
  IndexedVector() = default;
  explicit IndexedVector(std::integral auto size) : items_(static_cast<std::size_t>(size)) {}
  explicit IndexedVector(std::vector<T> items) : items_(std::move(items)) {}

  decltype(auto) operator[](Id id) { return items_[static_cast<std::size_t>(id)]; }
  decltype(auto) operator[](Id id) const { return items_[static_cast<std::size_t>(id)]; }

  bool contains(Id id) const { return static_cast<std::size_t>(id) < size(); }
  T value_or(Id id, T other) const { return contains(id) ? (*this)[id] : std::move(other); }

  // Returns the id of the new element.
  Id push_back(T item) {
    items_.push_back(std::move(item));
    return static_cast<Id>(items_.size() - 1);
  }

  void reserve(std::size_t size) { items_.reserve(size); }
  void resize(std::size_t size) { items_.resize(size); }
  std::size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  auto begin() { return items_.begin(); }
  auto begin() const { return items_.begin(); }
  auto end() { return items_.end(); }
  auto end() const { return items_.end(); }

  // All ids in order: for (const WorkerId id : workers.ids()).
  auto ids() const {
    return std::views::iota(std::size_t{0}, size()) |
           std::views::transform([](std::size_t index) { return static_cast<Id>(index); });
  }

 private:
  std::vector<T> items_;
};

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

  static constexpr std::size_t size() { return kSize; }
  constexpr auto begin() { return items_.begin(); }
  constexpr auto begin() const { return items_.begin(); }
  constexpr auto end() { return items_.end(); }
  constexpr auto end() const { return items_.end(); }
  std::array<T, kSize>& items() { return items_; }

 private:
  std::array<T, kSize> items_ = {};
};

}  // namespace hogbatch
