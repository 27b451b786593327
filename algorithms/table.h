// What each algorithm's file offers to the table.
#pragma once

#include <memory>

#include "algorithms/algorithms.h"

namespace hogbatch {

std::unique_ptr<Algorithm> MakeAdaptiveHogbatch(const AlgorithmOptions& options);
std::unique_ptr<Algorithm> MakeHogbatch(const AlgorithmOptions& options);
std::unique_ptr<Algorithm> MakeSync(const AlgorithmOptions& options);

}  // namespace hogbatch
