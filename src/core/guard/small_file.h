// Files that the program wrote itself and reads back: caches and records of runs.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace hogbatch {

// All of a regular file of at most `max_bytes`. None if there is none, if it is larger or cannot be
// read, or if it is a pipe or a device, which might never end.
std::optional<std::string> ReadSmallFile(const std::string& path, std::size_t max_bytes);

}  // namespace hogbatch
