// Numbers as people write them: 1,234.5, 1.234,5, 12 %.
#pragma once

#include <optional>
#include <string_view>

#include "datasets/table.h"

namespace hogbatch {

// The finite number that is all of `word`. A percent sign divides by 100.
std::optional<double> ParseWrittenNumber(std::string_view word, NumberStyle style);

}  // namespace hogbatch
