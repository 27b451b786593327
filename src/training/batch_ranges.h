// Batch sizes as --cpu-batch and --gpu-batch write them.
#pragma once

#include <cstdint>
#include <string_view>

#include "algorithms/algorithms.h"

namespace hogbatch {

// "16" or "MIN:MAX": rows per update.
BatchRange ParseBatchRange(std::string_view what, std::string_view text);

// The same on a GPU, whose minimum may be left to a measurement: "auto:MAX", or "auto" for the
// usual maximum. Until it is measured it is 64, or MAX where that is smaller.
struct GpuBatch {
  BatchRange range = {};
  bool calibrate_min = false;
};
GpuBatch ParseGpuBatch(std::string_view what, std::string_view text);

}  // namespace hogbatch
