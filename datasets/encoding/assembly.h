// Makes a data set of parsed rows.
#pragma once

#include <cstdint>
#include <span>

#include "datasets/dataset.h"
#include "datasets/readers/parsed_file.h"

namespace hogbatch {

// Copies the features into `data`, dense or sparse, whichever is smaller; row i comes from
// order[i], or without an order from i; rows that are not in the order are left out.
// `data.features` must be set.
void AssembleRows(const ParsedFile& file, std::span<const std::int64_t> order, int threads,
                  Dataset& data);

}  // namespace hogbatch
