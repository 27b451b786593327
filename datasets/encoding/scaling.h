// Features brought to one scale: learnt on the training rows, applied to all.
#pragma once

#include <cstdint>

#include "datasets/dataset.h"
#include "datasets/schema.h"

namespace hogbatch {

// Fills scaling, shift and scale of the schema from rows [0, train_rows). The features of
// categorical columns are left as they are. kAuto: none when every value lies in [-1, 1], else
// minmax for CSV and maxabs, which keeps zeros, for LIBSVM.
void LearnScaling(const Dataset& data, std::int64_t train_rows, ScalingKind kind, Schema& schema);

// Scales every value, zeros that are not stored too, and stores the result dense or sparse,
// whichever is then smaller.
void ApplyScaling(const Schema& schema, Dataset& data);

}  // namespace hogbatch
