// What each algorithm's file offers to the table.
#pragma once

#include <memory>

#include "algorithms/algorithms.h"

namespace hogbatch {

#define ALGORITHM(make, options, ...)                             \
  std::unique_ptr<Algorithm> make(const AlgorithmOptions& given); \
  AnyOptions options();
#include "algorithms/table.inc"
#undef ALGORITHM

}  // namespace hogbatch
