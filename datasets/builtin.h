// The small data set that ships inside the program.
#pragma once

#include <string_view>
#include <vector>

#include "datasets/schema.h"

namespace hogbatch {

inline constexpr std::string_view kBuiltinSource = "covtype-50k (built in)";

// A CSV without a header, compressed with xz: 10 integers, wilderness, soil, and the cover type,
// which is the label.
std::string_view PackedBuiltin();

// Its categorical columns.
std::vector<CategoricalColumn> BuiltinCategories();

}  // namespace hogbatch
