// How much of a device's memory a worker takes, by arithmetic, before one is made. For devices that
// do not share host memory.
#pragma once

#include <cstdint>

#include "datasets/dataset.h"
#include "nn/model_spec.h"
#include "nn/optimizer.h"

namespace hogbatch {

// The most nonzeros that any `rows` rows in a row of sparse data have.
std::int64_t MostEntries(const Dataset& data, std::int64_t rows);

// Bytes that training in updates of `batch_rows` rows takes at most, its evaluations included:
// updates at the end of a stretch of rows may be half as large again. `batch_entries` are the most
// nonzeros of `batch_rows` sparse rows; 0: not known, then rows with 1,024 are reckoned with.
// Synchronous training may take up to three times the largest layer on top.
std::int64_t DeviceBytesToTrain(const ModelSpec& spec, const OptimizerOptions& optimizer,
                                double momentum, std::int64_t batch_rows,
                                std::int64_t batch_entries = 0);

// Bytes that evaluation or prediction takes at most. `row_entries`: of a sparse row, on average
// over the fullest rows; 0: as above.
std::int64_t DeviceBytesToInfer(const ModelSpec& spec, double row_entries = 0);

}  // namespace hogbatch
