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

// What a device is to train.
struct DeviceTraining {
  ModelSpec spec;
  OptimizerOptions optimizer = {};
  double momentum = 0;  // the explicit part
  int depth = 1;        // DeviceInfo::depth: so many merges are under way at once
  // The rows. Null or empty: not known, then sparse ones with 1,024 nonzeros are reckoned with.
  const Dataset* data = nullptr;
};

// Bytes that training in updates of `batch_size` rows takes at most, its evaluations included:
// updates at the end of a stretch of rows may be half as large again. Synchronous training may take
// up to three times the largest layer on top.
std::int64_t DeviceBytesToTrain(const DeviceTraining& training, std::int64_t batch_size);

// The most rows, up to `limit`, that updates may have on a device that reports so much memory, with
// some of it left for what libraries take; 0 if there is no room for one.
std::int64_t MostRowsThatFit(const DeviceTraining& training, std::int64_t memory_bytes,
                             std::int64_t limit);

// Bytes that evaluation or prediction takes at most; `data` as above.
std::int64_t DeviceBytesToInfer(const ModelSpec& spec, const Dataset* data = nullptr);

}  // namespace hogbatch
