#include "core/guard/format_version.h"

#include <fmt/format.h>

namespace hogbatch {

std::string NewerFormatText(std::string_view file, std::int64_t format, std::int64_t newest) {
  return fmt::format("{} was written by a newer hogbatch (format {}; this one reads up to {})",
                     file, format, newest);
}

void RefuseNewerFormat(std::string_view file, std::int64_t format, std::int64_t newest) {
  if (format > newest)
    throw NewerFormat(NewerFormatText(file, format, newest) + ": update hogbatch");
}

}  // namespace hogbatch
