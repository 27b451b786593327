// Our kernels as they were compiled, between runs. CLBlast keeps its own for the life of a process
// alone and relies on the cache that OpenCL implementations have (PoCL, NVIDIA's and AMD's do).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "core/cache_folder.h"

namespace hogbatch::opencl {

// Files of one folder, each named after what its program was compiled from, by and for. A cache may
// fail to keep or find anything, and no failure of it is an error. A file of a newer format is
// neither read nor replaced.
class ProgramCache {
 public:
  // Without a folder nothing is kept.
  explicit ProgramCache(std::optional<std::filesystem::path> folder) : folder_(std::move(folder)) {}

  // None if there is no file, or one that is damaged or was made for another identity.
  std::optional<std::string> Load(std::string_view identity) const;
  void Save(std::string_view identity, std::string_view binary) const;

 private:
  std::filesystem::path PathOf(std::string_view identity) const;

  std::optional<std::filesystem::path> folder_;
};

}  // namespace hogbatch::opencl
