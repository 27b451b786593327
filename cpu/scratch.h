// Memory of one device for the duration of one call.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace hogbatch::cpu {

class Scratch {
 public:
  // At least `count` floats, aligned to cache lines; contents are undefined. Ends the last one.
  float* Get(std::size_t count) {
    constexpr std::size_t kLine = 64;
    std::size_t space = (count + kLine) * sizeof(float);
    if (memory_.size() < count + kLine) memory_.resize(count + kLine);
    void* start = memory_.data();
    return static_cast<float*>(std::align(kLine, count * sizeof(float), start, space));
  }

 private:
  std::vector<float> memory_;
};

}  // namespace hogbatch::cpu
