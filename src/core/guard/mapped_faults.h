// Files that are mapped into memory, and what happens if a page of one cannot be read: the file
// became shorter, or the disk failed. The system then sends SIGBUS, which would end the program.
// Instead the rest of the mapping reads as zeros from then on, and RequireReadable throws.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "core/error.h"

namespace hogbatch {

// Zeros stood in for a part of a mapped file, so that results that depend on it are void.
class MappingLost : public Error {
 public:
  using Error::Error;
};

// Guards a mapping for as long as it lives. It is made before the mapping is read, and must be gone
// before the mapping is.
class GuardedMapping {
 public:
  // Error if too many are guarded.
  GuardedMapping(std::span<const std::byte> mapping, const std::filesystem::path& path);
  ~GuardedMapping();
  GuardedMapping(const GuardedMapping&) = delete;
  GuardedMapping& operator=(const GuardedMapping&) = delete;

 private:
  std::size_t slot_;
};

// MappingLost if the address lies in a guarded mapping of which a page could not be read. Called
// after the reading whose result is to be used. Costs next to nothing while no page was lost.
void RequireReadable(const void* address);
// The same as a question.
bool IsReadable(const void* address);

}  // namespace hogbatch
