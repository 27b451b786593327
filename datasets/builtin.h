// The small data set that ships inside the program.
#pragma once

#include <string_view>
#include <vector>

#include "datasets/schema.h"

namespace hogbatch {

inline constexpr std::string_view kBuiltinSource = "covtype-50k (built in)";

// A CSV without header, packed with xz: 10 integers, wilderness, soil and, last, the cover type.
std::string_view PackedBuiltin();

// Its columns of numbers that are names.
std::vector<CategoricalColumn> BuiltinCategories();

}  // namespace hogbatch
