// Scaling of features: learnt on the training rows, applied to all.
#pragma once

#include <cstdint>

#include "datasets/dataset.h"
#include "datasets/schema.h"

namespace hogbatch {

// Fills scaling, shift and scale of the schema from rows [0, train_rows). The 0/1 features of
// categorical columns are never scaled.
//
// kAuto standardises every feature that is not mostly 0. Features that are mostly 0 (one-hot
// columns, sparse data) keep their zeros: they stay as they are if all of them lie within [-1, 1],
// and are divided by their largest absolute value otherwise. schema.scaling is then the kind that
// all features got, or kAuto if they got different ones.
void LearnScaling(const Dataset& data, std::int64_t train_rows, ScalingKind kind, Schema& schema);

// For images, whose features share one unit: all are divided by the largest absolute value of any.
// Pixels from 0 to 255 become 0 to 1 and stay comparable.
void LearnSharedScaling(const Dataset& data, std::int64_t train_rows, Schema& schema);

// Scales every value, zeros that are not stored too, and stores the result dense or sparse,
// whichever is then smaller. More than MemoryBudget(memory_bytes) is a UserError.
void ApplyScaling(const Schema& schema, std::int64_t memory_bytes, Dataset& data);

}  // namespace hogbatch
