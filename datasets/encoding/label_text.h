// How labels are spoken of in errors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hogbatch {

inline constexpr std::string_view kNoLabel =
    "the row has no label; only multi-label files (labels such as 3,17) may have such rows, write "
    "one";

// "-1, 1, 2" or the first few "… (983 in all)".
std::string ListNames(const std::vector<std::string>& names);

}  // namespace hogbatch
