// A file of this user's own in memory, as the system reads it.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <filesystem>
#include <mutex>
#include <optional>
#include <span>
#include <thread>

#include "core/guard/mapped_faults.h"

namespace hogbatch {

// Takes from this process what it holds of a mapping whenever all mapped files together take more
// than `most_bytes` of its memory. What is needed again comes from the system's cache, or from the
// disk.
class ResidencyLimit {
 public:
  ResidencyLimit(std::span<const std::byte> mapping, std::size_t most_bytes);
  ~ResidencyLimit();
  ResidencyLimit(const ResidencyLimit&) = delete;
  ResidencyLimit& operator=(const ResidencyLimit&) = delete;

 private:
  void Watch(const std::stop_token& stop);

  std::span<const std::byte> mapping_;
  std::size_t most_bytes_;
  std::mutex mutex_;
  std::condition_variable_any ended_;
  std::jthread watch_;  // last: it uses the others
};

class MappedFile {
 public:
  // Empty if there is no such file. What becomes of pages that cannot be read: see GuardedMapping.
  // `most_resident`: see ResidencyLimit; 0: there is none, and the
  // file is read at once.
  explicit MappedFile(const std::filesystem::path& path, std::size_t most_resident = 0);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
  std::optional<GuardedMapping> guard_;
  std::optional<ResidencyLimit> limit_;
};

}  // namespace hogbatch
