// Tells damage of a file, not malice.
#pragma once

#include <fmt/format.h>
#include <xxhash.h>

#include <cstddef>
#include <span>
#include <string>

namespace hogbatch {

inline std::string Checksum(std::span<const std::byte> bytes) {
  return fmt::format("{:016x}", XXH3_64bits(bytes.data(), bytes.size()));
}

}  // namespace hogbatch
