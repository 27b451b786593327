// Dates as people write them: 2024-03-01, 2024-03-01T12:30:00Z, 1.3.2024, 3/1/2024 12:30.
#pragma once

#include <optional>
#include <string_view>

#include "datasets/table.h"

namespace hogbatch {

struct WrittenDate {
  double days = 0;  // since 1970-01-01 00:00
  bool has_time_of_day = false;
};

// The date that is all of `word`. `order` is for dates with slashes.
std::optional<WrittenDate> ParseWrittenDate(std::string_view word, DateOrder order);

}  // namespace hogbatch
