// What each algorithm's file offers to the table.
#pragma once

#include <memory>

#include "algorithms/algorithms.h"

namespace hogbatch {

std::unique_ptr<Algorithm> MakeHogbatch(const AlgorithmOptions& options);
std::unique_ptr<Algorithm> MakeSync(const AlgorithmOptions& options);

// The size an algorithm that does not adapt uses: 16 rows, or the nearest the range allows.
std::int64_t FixedRows(const BatchRange& range);

}  // namespace hogbatch
