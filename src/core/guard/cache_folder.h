// Where the program keeps what it could find out again.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace hogbatch {

// hogbatch/ in $XDG_CACHE_HOME or ~/.cache, which may not be there yet; none if there is no home.
std::optional<std::filesystem::path> DefaultCacheFolder();

// A sentence why caches in this folder are not used: any user who can write into it could give the
// program code to run. Empty: it is this user's own, or not there yet.
std::string WhyNoCache(const std::filesystem::path& folder);

// Makes the folder if need be, with access for this user alone (0700), and removes what killed runs
// left in it. False: it is not to be used.
bool OpenCacheFolder(const std::filesystem::path& folder);

}  // namespace hogbatch
