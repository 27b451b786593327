// Computes how much device memory a worker will take, before it is made. For devices that do not
// share host memory.
#pragma once

#include <cstdint>

#include "datasets/dataset.h"
#include "nn/model_spec.h"
#include "nn/optimizer.h"

namespace hogbatch {

// The most nonzeros in any `rows` consecutive rows of sparse data.
std::int64_t MostEntries(const Dataset& data, std::int64_t rows);

// What a device is to train.
struct DeviceTraining {
  ModelSpec spec;
  OptimizerOptions optimizer = {};
  double momentum = 0;  // the explicit part
  int depth = 1;        // DeviceInfo::depth: merges in flight
  // The rows. If null or empty, sparse rows are assumed to have 1,024 nonzeros.
  const Dataset* data = nullptr;
};

// The most bytes that training and evaluation take at `batch_size` rows. The last batch of a range
// of rows may be half as large again, which is included. Synchronous training may take up to three
// times the largest layer in addition.
std::int64_t DeviceBytesToTrain(const DeviceTraining& training, std::int64_t batch_size);

// The largest batch size, up to `limit`, for a device that reports `memory_bytes`. Some memory is
// left to libraries. 0: there is no room for one row.
std::int64_t MostRowsThatFit(const DeviceTraining& training, std::int64_t memory_bytes,
                             std::int64_t limit);

// The most bytes that evaluation or prediction takes; `data` as above.
std::int64_t DeviceBytesToInfer(const ModelSpec& spec, const Dataset* data = nullptr);

}  // namespace hogbatch
