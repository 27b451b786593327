// Files that the program writes and reads again carry a format version.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hogbatch {

// "mine.toml was written by a newer hogbatch (format 4; this one reads up to 3)".
std::string NewerFormatText(std::string_view file, std::int64_t format, std::int64_t newest);

// UserError if `format` is above `newest`.
void RefuseNewerFormat(std::string_view file, std::int64_t format, std::int64_t newest);

}  // namespace hogbatch
