// A table as CSV or JSON lines, with its own cells.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "datasets/convert/written_rows.h"
#include "datasets/dataset.h"

namespace hogbatch {

using TakeText = std::function<void(std::string_view)>;

// JSON lines become CSV of at most `max_bytes`.
void WriteTable(const WrittenRows& table, WrittenFormat to, std::size_t max_bytes,
                const TakeText& write);

}  // namespace hogbatch
