// The small data set that ships inside the program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hogbatch {

inline constexpr std::string_view kBuiltinSource = "covtype-50k (built in)";

// A CSV without a header, compressed with xz: 10 integers, wilderness, soil, and the cover type,
// which is the label.
std::string_view PackedBuiltin();

// Its columns whose numbers are codes, by number from 1.
std::vector<std::string> BuiltinCategories();

}  // namespace hogbatch
