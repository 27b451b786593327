// Cells without a value.
#pragma once

#include <string_view>

namespace hogbatch {

// Empty, or one of the words that programs write for nothing: ?, NA, NaN, null and their like.
bool IsMissing(std::string_view cell);

// Words that may be a category, but in a column of numbers stand for nothing: None, -.
bool IsMissingAmongNumbers(std::string_view cell);

}  // namespace hogbatch
