// Labels in error messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hogbatch {

inline constexpr std::string_view kNoLabel =
    "the row has no label; write one (only multi-label files, with labels such as 3,17, may have "
    "rows without)";

// "-1, 1, 2" or the first few "… (983 in all)".
std::string ListNames(const std::vector<std::string>& names);

}  // namespace hogbatch
