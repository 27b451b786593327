// Chooses between dense and sparse storage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "datasets/dataset.h"

namespace hogbatch {

// Bytes of the features of a data set, as real numbers because products may exceed 2^64.
double DenseBytes(std::int64_t rows, std::int64_t features);
double SparseBytes(std::int64_t rows, std::int64_t nonzeros);
Storage SmallerStorage(std::int64_t rows, std::int64_t features, std::int64_t nonzeros);

// Throws UserError, ending in `advice`, if `bytes` is more than MemoryBudget(memory_bytes).
void CheckFits(double bytes, std::int64_t memory_bytes, const std::string& source,
               const std::string& advice);

// Adds the rows of a data set with the same features and kind of labels, and its notes.
void AppendRows(Dataset more, Dataset& data);

// Frees the memory of an array, which assigning {} does not.
template <typename Values>
void Release(Values& values) {
  values = Values();
}

}  // namespace hogbatch
