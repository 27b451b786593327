// What each algorithm's file offers to the table.
#pragma once

#include <memory>

#include "algorithms/algorithms.h"

namespace hogbatch {

#define ALGORITHM(make, ...) std::unique_ptr<Algorithm> make(const AlgorithmOptions& options);
#include "algorithms/table.inc"
#undef ALGORITHM

}  // namespace hogbatch
