// What the fuzz targets share. Each feeds any bytes to one reader: they are read, or refused with a
// UserError. Anything else ends the fuzzer.
#pragma once

#include <stdlib.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "core/error.h"

namespace hogbatch {

inline std::string_view TextOf(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

// The result of a fuzz target: `read` may throw UserError and nothing else.
template <typename Read>
int ReadOrRefused(const Read& read) {
  try {
    read();
  } catch (const UserError&) {
  }
  return 0;
}

// A folder for readers that take a file. In memory where the system has such a place.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name =
        std::filesystem::is_directory("/dev/shm") ? "/dev/shm/fuzz_XXXXXX" : "/tmp/fuzz_XXXXXX";
    Check(::mkdtemp(name.data()) != nullptr, "a scratch folder can be made");
    path_ = name;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() { std::filesystem::remove_all(path_); }

  const std::string& path() const { return path_; }
  void Write(const std::string& name, std::string_view content) const {
    std::ofstream(path_ + "/" + name, std::ios::binary) << content;
  }

 private:
  std::string path_;
};

}  // namespace hogbatch
