// Option values that are more than one number or word.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "algorithms/algorithms.h"
#include "datasets/dataset.h"

namespace hogbatch {

// The whole of `text` as a number. Throws UserError that begins with `what` ("--lr").
double ParseReal(std::string_view what, std::string_view text);
std::int64_t ParseInteger(std::string_view what, std::string_view text);

// "90", "90s", "5m", "2h", "1.5h" in seconds.
double ParseDuration(std::string_view what, std::string_view text);

// "16" or "MIN:MAX": rows per update.
BatchRange ParseBatchRange(std::string_view what, std::string_view text);

// The same on a GPU, whose minimum may be left to a measurement: "auto:MAX", or "auto" for the
// usual maximum. Until it is measured it is 64, or MAX where that is smaller.
struct GpuBatch {
  BatchRange range = {};
  bool calibrate_min = false;
};
GpuBatch ParseGpuBatch(std::string_view what, std::string_view text);

// Weights of the classes (or of the positive terms of the labels) from "none", "balanced" or
// "LABEL=WEIGHT,…"; empty for "none". Balanced weights are learnt from the first `train_rows` rows.
std::vector<float> ParseClassWeights(std::string_view text, const Schema& schema,
                                     const Dataset& data, std::int64_t train_rows);

}  // namespace hogbatch
