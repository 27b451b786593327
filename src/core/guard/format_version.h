// Files that the program writes and reads again carry a format version.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.h"

namespace hogbatch {

// The file is as it should be; this program is too old for it.
class NewerFormat : public UserError {
 public:
  using UserError::UserError;
};

// "mine.toml was written by a newer hogbatch (format 4; this one reads up to 3)".
std::string NewerFormatText(std::string_view file, std::int64_t format, std::int64_t newest);

// NewerFormat if `format` is above `newest`.
void RefuseNewerFormat(std::string_view file, std::int64_t format, std::int64_t newest);

}  // namespace hogbatch
