#include "core/cache_folder.h"

#include <cstdlib>

namespace hogbatch {

namespace fs = std::filesystem;

std::optional<fs::path> DefaultCacheFolder() {
  const auto from = [](const char* variable) -> std::optional<fs::path> {
    const char* const value = std::getenv(variable);
    if (value == nullptr || !fs::path(value).is_absolute()) return std::nullopt;
    return fs::path(value);
  };
  if (const auto cache = from("XDG_CACHE_HOME")) return *cache / "hogbatch";
  if (const auto home = from("HOME")) return *home / ".cache" / "hogbatch";
  return std::nullopt;
}

}  // namespace hogbatch
