// The middle of what several rounds measured.
#pragma once

#include <algorithm>
#include <vector>

namespace hogbatch::bench {

inline double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace hogbatch::bench
