// Objects that a caller knows by a number it cannot follow. No number is given out twice, so that
// use after destroy is always seen.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "tests/gpu/cuda_standin/misuse.h"

namespace hogbatch::standin {

// The kinds differ in their numbers, so that a stream is no event.
enum class Kind : std::uint8_t {
  kStream = 1,
  kEvent,
  kBlas,
  kBlasLt,
  kMatmul,
  kLayout,
  kPreference,
  kDnn,
  kTensor,
};

template <typename T>
class Handles {
 public:
  Handles(Kind kind, std::string name) : kind_(kind), name_(std::move(name)) {}

  void* Make(T object) {
    const std::uint64_t number = tag() | ++made_ << 4;
    objects_.emplace(number, std::move(object));
    return reinterpret_cast<void*>(number);  // NOLINT(performance-no-int-to-ptr)
  }
  T& Get(const void* handle) {
    const auto found = objects_.find(reinterpret_cast<std::uint64_t>(handle));
    if (found == objects_.end()) throw Misuse{Fault::kHandle, WhatIsWrongWith(handle)};
    return found->second;
  }
  void Destroy(const void* handle) {
    Get(handle);
    objects_.erase(reinterpret_cast<std::uint64_t>(handle));
  }

  std::map<std::uint64_t, T>& all() { return objects_; }
  const std::string& name() const { return name_; }
  std::size_t size() const { return objects_.size(); }

 private:
  // Outside the canonical addresses: whoever follows a handle dies at once.
  std::uint64_t tag() const { return 0x5d00'0000'0000'0000 | std::uint64_t(kind_) << 40; }

  std::string WhatIsWrongWith(const void* handle) const {
    const auto number = reinterpret_cast<std::uint64_t>(handle);
    if (handle == nullptr) return "there is no " + name_;
    const bool was_mine = number > tag() && number <= (tag() | made_ << 4);
    return was_mine ? "the " + name_ + " was destroyed before" : "this is no " + name_;
  }

  Kind kind_;
  std::string name_;
  std::uint64_t made_ = 0;
  std::map<std::uint64_t, T> objects_;  // in the order they were made
};

}  // namespace hogbatch::standin
