// Where the program keeps what it could find out again.
#pragma once

#include <filesystem>
#include <optional>

namespace hogbatch {

// hogbatch/ in $XDG_CACHE_HOME or ~/.cache, which may not be there yet; none if there is no home.
std::optional<std::filesystem::path> DefaultCacheFolder();

}  // namespace hogbatch
