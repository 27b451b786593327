// An array of a data set: its own, or part of a file that is mapped.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace hogbatch {

// Behaves like a vector. One that is mapped is copied when it is changed.
template <typename T>
class Array {
 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  Array() = default;
  Array(std::vector<T> values) : own_(std::move(values)) {}
  Array(std::initializer_list<T> values) : own_(values) {}
  // `keeper` lives as long as the values may be read.
  Array(std::span<const T> values, std::shared_ptr<const void> keeper)
      : mapped_(values), keeper_(std::move(keeper)) {}

  bool is_mapped() const { return keeper_ != nullptr; }
  const T* data() const { return is_mapped() ? mapped_.data() : own_.data(); }
  std::size_t size() const { return is_mapped() ? mapped_.size() : own_.size(); }
  bool empty() const { return size() == 0; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  const T& front() const { return data()[0]; }
  const T& back() const { return data()[size() - 1]; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size(); }

  T* data() { return Own().data(); }
  T& operator[](std::size_t i) { return Own()[i]; }
  T& back() { return Own().back(); }
  T* begin() { return data(); }
  T* end() { return data() + size(); }
  void resize(std::size_t count) { Own().resize(count); }
  void reserve(std::size_t count) { Own().reserve(count); }
  void assign(std::size_t count, const T& value) { Own().assign(count, value); }
  void push_back(const T& value) { Own().push_back(value); }
  void clear() { *this = Array(); }
  template <typename Iterator>
  void insert(const T* at, Iterator first, Iterator last) {
    const std::ptrdiff_t place = at - std::as_const(*this).data();
    Own().insert(own_.begin() + place, first, last);
  }

  friend bool operator==(const Array& a, const Array& b) { return std::ranges::equal(a, b); }
  friend bool operator==(const Array& a, const std::vector<T>& b) {
    return std::ranges::equal(a, b);
  }

 private:
  std::vector<T>& Own() {
    if (is_mapped()) *this = Array(std::vector<T>(mapped_.begin(), mapped_.end()));
    return own_;
  }

  std::vector<T> own_;
  std::span<const T> mapped_;
  std::shared_ptr<const void> keeper_;  // null: it is not mapped
};

}  // namespace hogbatch
