// Keeps our compiled kernels between runs. CLBlast keeps its kernels only until the process ends,
// and relies on the caches of OpenCL implementations (PoCL, NVIDIA's and AMD's have one).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "core/guard/cache_folder.h"

namespace hogbatch::opencl {

// One file per program in a folder, named after its source, compiler and device. A cache that
// cannot read or write, or whose folder others can write into, is not an error. A file of a newer
// format is neither read nor replaced.
class ProgramCache {
 public:
  // Without a folder nothing is kept.
  explicit ProgramCache(std::optional<std::filesystem::path> folder) : folder_(std::move(folder)) {}

  // None if there is no file, or if it is damaged or belongs to another identity.
  std::optional<std::string> Load(std::string_view identity) const;
  void Save(std::string_view identity, std::string_view binary) const;

 private:
  std::filesystem::path PathOf(std::string_view identity) const;

  std::optional<std::filesystem::path> folder_;
};

}  // namespace hogbatch::opencl
