// Dense or sparse: which is smaller, and turning one into the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "datasets/dataset.h"

namespace hogbatch {

// Bytes of the features of a data set; real numbers, because a product can pass 2^64.
double DenseBytes(std::int64_t rows, std::int64_t features);
double SparseBytes(std::int64_t rows, std::int64_t nonzeros);
Storage SmallerStorage(std::int64_t rows, std::int64_t features, std::int64_t nonzeros);

// Refuses, with a UserError that ends in `advice`, what would take more than half of the memory.
void CheckFits(double bytes, const std::string& source, const std::string& advice);

// Empties an array and gives its memory back, which assigning {} does not.
template <typename T>
void Release(std::vector<T>& values) {
  std::vector<T>().swap(values);
}

}  // namespace hogbatch
